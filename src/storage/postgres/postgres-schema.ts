import { MessagingOptionsError, StorageUnavailableError } from '../../common/errors.js';
import type { Change } from '../dialect.js';
import { codeOf } from '../engine/blame.js';
import { type Operation, rowsOf, write } from '../engine/operation.js';

/** Distinguishes our advisory locks from the host's. An arbitrary constant, the same in every instance of this package. */
export const ADVISORY = '7305808869231650';

/** Settings of the connection that would end the build of a large index. 0 means no limit. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'transaction_timeout'];

/** `duplicate_table` (also of an index) and `duplicate_column`. */
const ALREADY_RUN = new Set(['42P07', '42701']);

/** `lock_not_available` and `deadlock_detected`: the statement can be repeated. */
const REPEATABLE = new Set(['55P03', '40P01']);

/**
 * How long a change waits for the lock of its table. The wait is short, because all later statements on the table wait
 * behind it. The next constants are the pause after it and the number of attempts. Together they take about ten
 * minutes.
 */
const LOCK_MS = 200;
const PAUSE_S = 1;
const MAX_TRIES = 500;

/**
 * Runs a migration under a lock of the connection, because a concurrent build of an index cannot be in a transaction.
 * If the process is killed, the server keeps the connection and its lock until its statement has ended. So no other
 * instance starts while an index is still being built.
 */
export function* exclusively(migration: () => Operation<void>): Operation<void> {
  const limits = yield* rowsOf(
    `SELECT name FROM pg_settings WHERE name IN (${LIMITS.map((name) => `'${name}'`).join(', ')})`,
  );
  try {
    for (const { name } of limits) yield* write(`SET ${name} = 0`);
    // The lock is tried again and again. A waiting `pg_advisory_lock` would have a snapshot, and a concurrent build
    // waits for older snapshots.
    while (!(yield* isLocked())) yield* run('SELECT pg_sleep(0.2)');
    yield* migration();
  } finally {
    for (const { name } of limits) yield* write(`RESET ${name}`);
    // If the wait for the lock has failed, the server only warns here.
    yield* rowsOf(`SELECT pg_advisory_unlock(${ADVISORY})`);
  }
}

/**
 * Runs a migration in one transaction with a lock of the transaction, because a pooler may give each transaction
 * another connection.
 */
export function* inOneTransaction(migration: () => Operation<void>): Operation<void> {
  yield* atOnce(function* () {
    yield* write('SET LOCAL statement_timeout = 0');
    yield { sql: `SELECT pg_advisory_xact_lock(${ADVISORY})`, params: [], noTimeout: true };
    yield* migration();
  });
}

/**
 * Runs a migration. If the role has no right to make the tables, the error names the schema and says what to do.
 *
 * @throws MessagingOptionsError
 */
export function* explainingRights(migration: Operation<void>): Operation<void> {
  try {
    yield* migration;
  } catch (error) {
    if (codeOf(error) !== '42501') throw error;
    const [row] = yield* rowsOf('SELECT current_schema() AS schema, current_user AS role');
    const [schema, role] = [String(row?.schema), String(row?.role)];
    throw new MessagingOptionsError(
      `Option storage: the role ${role} may not make our tables in the schema ${schema} (42501). GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role}, or name another schema of its own: ALTER ROLE ${role} SET search_path = …. The option schema of a DataSource is not used; tables that are there already must be owned by ${role}.`,
    );
  }
}

function* isLocked(): Operation<boolean> {
  const [row] = yield* rowsOf(`SELECT pg_try_advisory_lock(${ADVISORY}) AS locked`);
  return row?.locked === true;
}

/** Runs a migration as one transaction. */
export function* atOnce(migration: () => Operation<void>): Operation<void> {
  yield* write('BEGIN');
  try {
    yield* migration();
    yield* write('COMMIT');
  } catch (error) {
    yield* write('ROLLBACK');
    throw error;
  }
}

/** Runs a DDL statement on a table that others use. */
export function* defineOnline(change: Change): Operation<void> {
  const [, unique = '', index] = /^CREATE (UNIQUE )?INDEX (\w+)/.exec(change.sql) ?? [];
  if (index !== undefined) {
    const sql = change.sql.replace(`${unique}INDEX`, `${unique}INDEX CONCURRENTLY`);
    yield* patiently(change, () => buildIndex(index, sql));
  } else if (change.sql.startsWith('DROP INDEX ')) {
    const sql = change.sql.replace('INDEX', 'INDEX CONCURRENTLY IF EXISTS');
    yield* patiently(change, () => run(sql));
  } else {
    yield* patiently(change, () => atOnce(() => briefly(change.sql)));
  }
}

/** Runs a DDL statement, and ignores the error if it has already run. */
export function* unlessRun(statement: Operation<unknown>): Operation<void> {
  try {
    yield* statement;
  } catch (error) {
    if (!ALREADY_RUN.has(codeOf(error) ?? '')) throw error;
  }
}

/**
 * Builds an index. An interrupted build leaves an invalid index, which is not used but slows down each write. Such an
 * index is dropped first.
 */
function* buildIndex(index: string, sql: string): Operation<void> {
  const [built] = yield* rowsOf(`SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('${index}')`);
  if (built?.valid === true) return;
  if (built) yield* run(`DROP INDEX CONCURRENTLY ${index}`);
  yield* run(sql);
}

function* briefly(sql: string): Operation<void> {
  yield* write(`SET LOCAL lock_timeout = '${LOCK_MS}ms'`);
  yield* run(sql);
}

/** Repeats a change while another transaction has the lock of its table. */
function* patiently({ table }: Change, work: () => Operation<void>): Operation<void> {
  for (let tries = 1; ; tries++) {
    try {
      return yield* work();
    } catch (error) {
      if (!REPEATABLE.has(codeOf(error) ?? '')) throw error;
      if (tries === MAX_TRIES) {
        throw new StorageUnavailableError(
          `The schema cannot be changed: a transaction that stays open keeps the lock of ${table ?? 'a table'}.`,
        );
      }
    }
    yield* run(`SELECT pg_sleep(${PAUSE_S})`);
  }
}

function* run(sql: string): Operation<void> {
  yield { sql, params: [], noTimeout: true };
}
