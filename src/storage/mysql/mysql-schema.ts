import { MessagingOptionsError, StorageUnavailableError } from '../../common/errors.js';
import type { Change } from '../dialect.js';
import { blameOf, codeOf } from '../engine/blame.js';
import { type Operation, rowsOf, write } from '../engine/operation.js';

/** The name of the lock, one for each database. A name may have at most 64 characters. */
const MIGRATION_LOCK = "CONCAT('messaging:', MD5(DATABASE()))";
/**
 * The longest wait for the lock, in seconds. It is longer than the build of any index. If a process ends, its lock is
 * released.
 */
const MIGRATION_WAIT_S = 86_400;

/** Error codes of a DDL statement that has run before. */
const ALREADY_RUN = new Set([
  'ER_TABLE_EXISTS_ERROR',
  'ER_DUP_KEYNAME',
  'ER_DUP_FIELDNAME',
  'ER_CANT_DROP_FIELD_OR_KEY',
]);

/**
 * How long a change waits for the lock of its table. The wait is short, because all later statements on the table wait
 * behind it. The next constants are the pause after it and the number of attempts. Together they take about ten
 * minutes.
 */
const LOCK_S = 1;
const PAUSE_S = 3;
const MAX_TRIES = 150;

/** How often a migration begins again after a conflict. */
const MAX_CONFLICTS = 10;

/**
 * Runs a migration under a lock of the connection. DDL statements commit, so they would release the locks of a
 * transaction. On Galera the lock is valid on one node only. Migrations on several nodes can conflict, and the one that
 * loses begins again.
 */
export function* exclusively(migration: () => Operation<void>): Operation<void> {
  const sql = `SELECT GET_LOCK(${MIGRATION_LOCK}, ${MIGRATION_WAIT_S}) AS held`;
  const [row] = (yield { sql, params: [], noTimeout: true }).rows;
  if (Number(row?.held) !== 1) throw new StorageUnavailableError('Another instance is migrating the database.');
  try {
    yield* write(`SET SESSION lock_wait_timeout = ${LOCK_S}`);
    yield* repeated(migration);
  } finally {
    yield* write('SET SESSION lock_wait_timeout = DEFAULT');
    yield* rowsOf(`SELECT RELEASE_LOCK(${MIGRATION_LOCK})`);
  }
}

/**
 * Runs a migration again after a conflict. That is safe, because a migration first reads which versions are missing.
 */
function* repeated(migration: () => Operation<void>): Operation<void> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return yield* migration();
    } catch (error) {
      if (blameOf(error) !== 'conflict' || conflicts > MAX_CONFLICTS) throw error;
    }
    // The pause is random, so that two migrations do not meet again.
    yield* rowsOf('SELECT SLEEP(0.05 + RAND() * 0.2)');
  }
}

/**
 * Runs a DDL statement on a table that others use. If InnoDB can, it changes only the catalogue, at once. Otherwise it
 * changes the table while others write.
 *
 * @throws MessagingOptionsError if InnoDB can do neither
 */
export function* defineOnline(change: Change): Operation<void> {
  for (const sql of onlineForms(inFull(change))) {
    try {
      return yield* patiently({ ...change, sql });
    } catch (error) {
      if (!codeOf(error)?.startsWith('ER_ALTER_OPERATION_NOT_SUPPORTED')) throw error;
    }
  }
  throw new MessagingOptionsError(
    `Option storage: the database can change ${change.table} only while nobody writes to it. Stop all processes, run by hand "${inFull(change)}", and start again.`,
  );
}

/**
 * Returns the statement in a form that takes an algorithm. `DROP INDEX` becomes a change of its table, because MariaDB
 * otherwise has no algorithm for it.
 */
export function inFull({ sql, table }: Change): string {
  return table === undefined ? sql : sql.replace(/^DROP INDEX (\w+)$/, `ALTER TABLE ${table} DROP INDEX $1`);
}

/** Runs a DDL statement, and ignores the error if it has already run. */
export function* unlessRun(statement: Operation<unknown>): Operation<void> {
  try {
    yield* statement;
  } catch (error) {
    if (!ALREADY_RUN.has(codeOf(error) ?? '')) throw error;
  }
}

function onlineForms(sql: string): readonly string[] {
  if (sql.startsWith('ALTER TABLE ')) return [`${sql}, ALGORITHM=INSTANT`, `${sql}, ALGORITHM=INPLACE, LOCK=NONE`];
  return /^CREATE (UNIQUE )?INDEX /.test(sql) ? [`${sql} ALGORITHM=INPLACE LOCK=NONE`] : [sql];
}

/** Repeats a change while another transaction has the lock of its table. */
function* patiently({ sql, table }: Change): Operation<void> {
  for (let tries = 1; ; tries++) {
    try {
      yield { sql, params: [], noTimeout: true };
      return;
    } catch (error) {
      if (codeOf(error) !== 'ER_LOCK_WAIT_TIMEOUT') throw error;
      if (tries === MAX_TRIES) {
        throw new StorageUnavailableError(
          `The schema cannot be changed: a transaction that stays open keeps the lock of ${table ?? 'a table'}.`,
        );
      }
    }
    yield* rowsOf(`SELECT SLEEP(${PAUSE_S})`);
  }
}
