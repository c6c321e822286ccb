import { MessagingError, StorageUnavailableError } from '../../../common/errors.js';
import { isQueryFailure } from './typeorm-objects.js';

/** Error codes for a database that is temporarily unavailable: of connections, SQLite, PostgreSQL, MariaDB and MySQL. */
const UNAVAILABLE = [
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)/,
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/,
  /^(08|53|57|58|55P03|25006|25P0[34]|40)/,
  /^PROTOCOL_|^ER_(LOCK_|CON_COUNT|TOO_MANY_USER_CONN|USER_LIMIT|SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CONNECTION_KILLED|NEW_ABORTING)/,
  /^ER_(QUERY_INTERRUPTED|QUERY_TIMEOUT|STATEMENT_TIMEOUT|NET_|DISK_FULL|RECORD_FILE_FULL|OPTION_PREVENTS|READ_ONLY|OUT_OF)/,
];

/**
 * Turns a database error into a `StorageUnavailableError` where it is temporary; a `MessagingError` is returned unchanged.
 */
export function asStorageFault(cause: unknown): unknown {
  if (cause instanceof MessagingError) return cause;
  const code = codeOf(cause);
  const unavailable =
    code === undefined
      ? cause instanceof Error &&
        /timeout|terminated|not connected|not queryable|closed|released|end on the pool/i.test(cause.message)
      : UNAVAILABLE.some((codes) => codes.test(code));
  if (!unavailable) return withoutParameters(cause, code);
  return new StorageUnavailableError(`The database does not answer (${code ?? 'no code'}).`, {
    cause: withoutParameters(cause, code),
  });
}

/** Drops the driver's error, as it holds parameters (texts, numbers), which must not be logged. */
function withoutParameters(cause: unknown, code: string | undefined): unknown {
  const bare = code === undefined && !isQueryFailure(cause);
  if (bare) return cause;
  return Object.assign(new Error(`The database refused a statement (${code ?? 'no code'}).`), { code });
}

/** The driver's error code, also of an error that TypeORM has wrapped. */
export function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const code: unknown = Reflect.get(cause, 'code');
  return typeof code === 'string' ? code : codeOf(Reflect.get(cause, 'driverError'));
}

/** Another transaction has written a row first. The executor repeats the transaction, as for a serialization failure. */
export class RecordMovedError extends Error {
  override readonly name = 'RecordMovedError';
  readonly code = '40001';
}
