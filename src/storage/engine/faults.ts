import {
  MessagingError,
  MessagingOptionsError,
  StorageUnavailableError,
  TransactionConflictError,
} from '../../common/errors.js';
import { blameOf, codeOf } from './blame.js';
import { isQueryFailure } from './typeorm-objects.js';

/** The reason if nothing better is known. */
export const NO_ANSWER = 'The database does not answer';

/** The meanings of some codes of an unavailable database. For the others, only the code is shown. */
const REASONS: readonly (readonly [codes: RegExp, reason: string])[] = [
  [
    /^(25006|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE|ER_INNODB_READ_ONLY|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
    'The database takes no writes: it is a standby, or set to read-only',
  ],
  [/^(ER_UNKNOWN_COM_ERROR|57P03)$/, 'The database is not ready, as a node that joins its cluster is not'],
  [/^(53100|ER_DISK_FULL|ER_RECORD_FILE_FULL|SQLITE_FULL)$/, 'The disk of the database is full'],
  [/^(42501|ER_\w+ACCESS_?DENIED\w*)$/, 'This user of the database may not make or read our tables'],
];

/**
 * Converts a database error to a `StorageUnavailableError`, unless the statement itself is wrong (see `Blame`). A
 * `MessagingError` and a `MessagingOptionsError` are returned unchanged.
 */
export function asStorageFault(cause: unknown): unknown {
  if (cause instanceof MessagingError || cause instanceof MessagingOptionsError) return cause;
  const code = codeOf(cause);
  const bare = withoutParameters(cause, code);
  const blame = blameOf(cause);
  if (blame === 'ours') return bare;
  const shown = `(${code ?? 'no code'})`;
  if (blame === 'conflict' || blame === 'locked') {
    const what = blame === 'conflict' ? 'has changed what this one has read' : 'holds what this one needs';
    return new TransactionConflictError(`Another transaction ${what} ${shown}: repeat the whole transaction.`, {
      cause: bare,
    });
  }
  const reason = REASONS.find(([codes]) => codes.test(code ?? ''))?.[1] ?? NO_ANSWER;
  return new StorageUnavailableError(`${reason} ${shown}.`, { cause: bare });
}

/** Replaces the driver's error, because it contains parameters (texts, numbers), which must not be logged. */
function withoutParameters(cause: unknown, code: string | undefined): unknown {
  const bare = code === undefined && !isQueryFailure(cause);
  if (bare) return cause;
  return Object.assign(new Error(`The database refused a statement (${code ?? 'no code'}).`), { code });
}

/**
 * Another transaction has written a row first. `Database` repeats the transaction, as after a serialization failure.
 */
export class RecordMovedError extends Error {
  override readonly name = 'RecordMovedError';
  readonly code = '40001';
}
