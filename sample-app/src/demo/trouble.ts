import { MessagingError, MessagingOptionsError, StorageUnavailableError } from 'nestjs-messaging';
import { type Config, ConfigError } from '../config/config.js';

/** Returns a sentence for the operator if a setting or the machine is wrong, or undefined if it is a fault of ours. */
export function sentenceOf(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof MessagingOptionsError) return error.message;
  if (error instanceof StorageUnavailableError) return `The database does not answer. ${error.reason}`;
  return undefined;
}

/** Ends the program and prints why its start failed: a sentence, or the whole error if it is a fault of ours. */
export function endOfStart(error: unknown): never {
  console.error(sentenceOf(error) ?? error);
  process.exit(1);
}

/** Explains an error while the modules are made. Only the database can be missing then. */
export function databaseTrouble(error: unknown): never {
  // The storage's message names an option of the package, but the user of this program knows only the setting. So we show the
  // driver's message.
  const reason = reasonOf(error instanceof MessagingOptionsError ? error.cause : error);
  throw reason === undefined ? error : new ConfigError(`The database of DATABASE_URL cannot be used: ${reason}`);
}

/** Explains why the server cannot listen. */
export function addressTrouble({ port, host }: Config): (error: unknown) => never {
  return (error) => {
    const reason = reasonOf(error);
    throw reason === undefined ? error : new ConfigError(`PORT ${port} on HOST ${host} cannot be used: ${reason}`);
  };
}

/** Returns the message of an error that has a code, from the system or a driver. Returns undefined for any other error. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof MessagingError) return undefined;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  // If a name has several addresses, each has its own error.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return error.message || (first instanceof Error ? first.message : error.code);
}
