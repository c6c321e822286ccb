/**
 * The cause of a failed statement, which decides what happens next:
 *
 * - `ours`: the statement or its values are wrong. It would fail again, so the request is answered with 500.
 * - `conflict`: another transaction was first, and the database has rolled back this one. The transaction is repeated.
 * - `locked`: a row or table was locked for too long. The connection still works.
 * - `cancelled`: the statement took too long, or an operator has ended it. The connection still works.
 * - `lost`: there was no answer. Only an answered ROLLBACK shows that the connection still works.
 * - `server`: the server of this connection cannot run it (read-only, not ready, shutting down, full). The connection
 *   is closed, so that the next one can reach another server.
 *
 * In all cases except `ours`, the request is answered with 503 and `Retry-After`, and results of carriers are kept and
 * stored later.
 */
export type Blame = 'ours' | 'conflict' | 'locked' | 'cancelled' | 'lost' | 'server';

type Table = readonly (readonly [codes: RegExp, blame: Blame])[];

/** The SQLSTATEs of PostgreSQL. The first matching line is used. A code that matches no line is `server`. */
const POSTGRES: Table = [
  // Data, constraints, transaction states and syntax: one of our statements is wrong, or in a host's transaction one of
  // the host's.
  [/^(21|22|23|2D|34|3B|40002|25P02)/, 'ours'],
  [/^(40000|40001|40P01)$/, 'conflict'],
  [/^(55P03|55006)$/, 'locked'],
  [/^57014$/, 'cancelled'],
  // A right was revoked, or a pooler has lost or kept a prepared statement. The statement itself is not wrong.
  [/^(42501|42P05)$/, 'server'],
  [/^42/, 'ours'],
];

/** The SQLSTATEs of MariaDB and MySQL, for the errors that `MYSQL_NAMES` does not have. */
const MYSQL_STATES: Table = [
  [/^(01|02|21|22|23|42)/, 'ours'],
  // This includes rollbacks of XA, and of MySQL's group replication at the commit (40000).
  [/^(40|XA10)/, 'conflict'],
  [/^70100$/, 'cancelled'],
];

/**
 * Errors of MariaDB and MySQL by name, or by `ER_` and number if `mysql2` has no name for them. The list has only
 * errors whose SQLSTATE is not specific enough. A third of all errors have HY000.
 */
const MYSQL_NAMES: Table = [
  // CHECKREAD: a row was changed after the transaction's snapshot (MariaDB's innodb_snapshot_isolation). The last two: a
  // table was changed meanwhile.
  [/^ER_(LOCK_DEADLOCK|CHECKREAD|XA_RB\w+|TABLE_DEF_CHANGED|NEED_REPREPARE)$/, 'conflict'],
  [/^ER_LOCK_(WAIT_TIMEOUT|NOWAIT|ABORTED)$/, 'locked'],
  // MariaDB: 1969 is max_statement_time, and 1927 is KILL of the connection, with the SQLSTATE of a KILL QUERY.
  [/^ER_1927$/, 'server'],
  [/^ER_(QUERY_INTERRUPTED|QUERY_TIMEOUT|STATEMENT_TIMEOUT|1969)$/, 'cancelled'],
  // Rights and quotas have the same SQLSTATE as syntax errors, 42000.
  [/^ER_(\w*ACCESS_?DENIED\w*|TOO_MANY_USER_CONNECTIONS|USER_LIMIT_REACHED|NO_DB_ERROR|BAD_DB_ERROR)$/, 'server'],
  [/^ER_(NO_DEFAULT_FOR_FIELD|TRUNCATED_WRONG_VALUE\w*|WRONG_\w+|CANT_AGGREGATE_\w+|UNKNOWN_SYSTEM_VARIABLE)$/, 'ours'],
  [/^ER_(UNSUPPORTED_PS|SP_\w+|INVALID_\w+|ILLEGAL_VALUE_FOR_TYPE|DATA_\w+|UNKNOWN_CHARACTER_SET)$/, 'ours'],
];

const SQLITE: Table = [[/^SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE|EMPTY|FORMAT)/, 'ours']];

/** Messages of errors without a code: of `pg`, `mysql2` and their pools. */
const LOST = /timeout|terminated|not connected|not queryable|closed|released|end on the pool|queue limit/i;

/** Finds the cause of an error of a statement, of a connection, or of our own code around it. */
export function blameOf(cause: unknown): Blame {
  const code = codeOf(cause);
  if (code === undefined) return cause instanceof Error && LOST.test(cause.message) ? 'lost' : 'ours';
  if (code.startsWith('SQLITE_')) return find(SQLITE, code) ?? 'server';
  if (/^(ER|WARN)_/.test(code)) {
    return find(MYSQL_NAMES, code) ?? find(MYSQL_STATES, stateOf(cause) ?? '') ?? 'server';
  }
  if (/^[0-9A-Z]{5}$/.test(code)) return find(POSTGRES, code) ?? 'server';
  // Node's errors about wrong arguments are our fault. Those of sockets and of TLS are not.
  return /^ERR_(?!TLS|SSL|SOCKET|STREAM)/.test(code) ? 'ours' : 'server';
}

/**
 * The driver's error code, even if TypeORM has wrapped the error. `ER_1969` for a number that `mysql2` does not know.
 */
export function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const code: unknown = Reflect.get(cause, 'code');
  if (typeof code === 'string') return code;
  const inner: unknown = Reflect.get(cause, 'driverError');
  if (inner !== undefined) return codeOf(inner);
  return stateOf(cause) === undefined ? undefined : `ER_${Reflect.get(cause, 'errno')}`;
}

/** The SQLSTATE that `mysql2` gives besides its own code. */
function stateOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const state: unknown = Reflect.get(cause, 'sqlState');
  return typeof state === 'string' && state !== '' ? state : stateOf(Reflect.get(cause, 'driverError'));
}

function find(table: Table, code: string): Blame | undefined {
  return table.find(([codes]) => codes.test(code))?.[1];
}
