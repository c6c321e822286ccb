import { MessagingError, MessagingOptionsError, StorageUnavailableError } from 'nestjs-messaging';
import { type Config, ConfigError } from '../config/config.js';

/** What an operator is told of an error, where it is a setting or the machine that is wrong; undefined for a fault of ours. */
export function sentenceOf(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof MessagingOptionsError) return error.message;
  if (error instanceof StorageUnavailableError) return `The database does not answer. ${error.reason}`;
  return undefined;
}

/** Ends the program with what went wrong at its start: a sentence, or the whole error when it is a fault of ours. */
export function endOfStart(error: unknown): never {
  console.error(sentenceOf(error) ?? error);
  process.exit(1);
}

/** For what goes wrong while the modules are made: all that can be missing then is the database. */
export function databaseTrouble(error: unknown): never {
  // The storage names its option; whoever starts this program knows a setting, and the driver's words say more.
  const reason = reasonOf(error instanceof MessagingOptionsError ? error.cause : error);
  throw reason === undefined ? error : new ConfigError(`The database of DATABASE_URL cannot be used: ${reason}`);
}

/** For what goes wrong when the server is to listen. */
export function addressTrouble({ port, host }: Config): (error: unknown) => never {
  return (error) => {
    const reason = reasonOf(error);
    throw reason === undefined ? error : new ConfigError(`PORT ${port} on HOST ${host} cannot be used: ${reason}`);
  };
}

/** What the system or a driver says, which put a code on their errors; undefined for any other error. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof MessagingError) return undefined;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  // A name with several addresses: each has an error of its own.
  const [first] = error instanceof AggregateError ? error.errors : [];
  return error.message || (first instanceof Error ? first.message : error.code);
}
