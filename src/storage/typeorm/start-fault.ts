import { QueryFailedError } from 'typeorm';
import { MessagingOptionsError, StorageUnavailableError } from '../../common/errors.js';
import { codeOf } from './host-transaction.js';

/** What codes of the system and of databases say about a database that cannot be used. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/, 'nothing answers at the address of the database'],
  [/^(ENOTFOUND|EAI_)/, 'the host of the database is not known'],
  [/^(28|ER_ACCESS_DENIED)/, 'the database refuses this user or password'],
  [/^(3D|ER_BAD_DB|ER_DBACCESS)/, 'there is no such database for this user'],
  [/^(42501|ER_\w*ACCESS|ER_TABLEACCESS)/, 'this user may not make or read our tables'],
  [/^SQLITE_/, 'SQLite cannot use the file'],
  [/^E(ACCES|PERM|NOENT|NOTDIR|ISDIR|EXIST|ROFS|NOSPC|LOOP|NAMETOOLONG)$/, 'the path of the database cannot be opened'],
  [/^([0-9A-Z]{5}$|ER_|PROTOCOL_)/, 'the database cannot be used'],
];

/**
 * An error of a storage's start as a sentence. A driver's own message is not part of it, and the error is kept as its cause
 * only where it came from a database or the system: what parses a URL has the password in its error.
 */
export function startFault(error: unknown): MessagingOptionsError {
  if (error instanceof MessagingOptionsError) return error;
  if (error instanceof StorageUnavailableError) {
    return new MessagingOptionsError(`Option storage: ${firstLower(error.reason)}`, { cause: error.cause });
  }
  const code = codeOf(error);
  const meaning = MEANINGS.find(([codes]) => code !== undefined && codes.test(code))?.[1];
  if (code !== undefined && meaning !== undefined) {
    // With a statement that failed come its parameters.
    const cause = error instanceof QueryFailedError ? undefined : error;
    return new MessagingOptionsError(`Option storage: ${meaning} (${code}).`, { cause });
  }
  if (error instanceof Error && error.name === 'DriverPackageNotInstalledError') {
    return new MessagingOptionsError(`Option storage: ${error.message}`);
  }
  const name = error instanceof Error ? error.name : typeof error;
  return new MessagingOptionsError(`Option storage: the database cannot be opened (${code ?? name}).`);
}

function firstLower(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
