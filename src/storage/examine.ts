import { statSync } from 'node:fs';
import { StorageUnavailableError } from '../common/errors.js';
import type { Database } from './engine/database.js';
import { type Row, rowsOf } from './engine/operation.js';
import { integerOf, textOf } from './engine/rows.js';
import type { StorageFinding } from './messaging-storage.js';
import { riskySettings } from './risky-settings.js';
import { SCHEMA_TABLE } from './schema/schema-table.js';
import { indexesOf, type SchemaGroup, tablesOf, versionsOf } from './schema/versions.js';

/**
 * If a value is above these limits, an operator should do something. They are in seconds, milliseconds, a share of
 * rows, rows, and bytes.
 */
const OLD_S = 60;
const CLOCK_MS = 1000;
const DEAD_SHARE = 0.2;
const DEAD_ROWS = 10_000;
const WAL_BYTES = 256 * 1024 * 1024;

/**
 * Queries for the statistics of a database. `sizes`: `name` and `bytes` of tables and indexes, with the table in `tab`.
 * `indexes`: `name`, and `valid`, which is false for a half-built index. `oldest`: `id`, `age` in seconds and `who` of
 * the transaction that keeps the oldest rows from being cleaned up. `dead`: `name`, `dead` and `live` rows of tables.
 * `clock`: `now` in milliseconds since the epoch.
 */
interface Catalogue {
  readonly sizes: string;
  readonly indexes: string;
  readonly oldest?: string;
  readonly dead?: string;
  readonly clock?: string;
}

const CATALOGUES: Readonly<Record<string, Catalogue>> = {
  postgres: {
    sizes: `SELECT relname AS tab, pg_total_relation_size(relid) AS bytes FROM pg_stat_user_tables
      WHERE schemaname = current_schema()`,
    indexes: `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
      WHERE c.relnamespace = current_schema()::regnamespace`,
    // A prepared transaction keeps dead rows, as an open connection does. Connections to other databases and autovacuum
    // keep none of our rows. Connections for replication have no database.
    oldest: `SELECT id, age, who FROM (
        SELECT pid::text AS id, extract(epoch FROM clock_timestamp() - coalesce(xact_start, query_start))::bigint AS age,
          concat('process ', pid, ', application "', application_name, '", ', state) AS who, age(backend_xmin) AS xids
        FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
          AND coalesce(datname, current_database()) = current_database() AND backend_type <> 'autovacuum worker'
        UNION ALL SELECT gid, extract(epoch FROM clock_timestamp() - prepared)::bigint,
          concat('prepared transaction ', gid), age(transaction) FROM pg_prepared_xacts WHERE database = current_database()
      ) t ORDER BY xids DESC, age DESC LIMIT 1`,
    dead: `SELECT relname AS name, n_dead_tup AS dead, n_live_tup AS live FROM pg_stat_user_tables
      WHERE schemaname = current_schema()`,
    clock: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now',
  },
  mysql: {
    sizes: `SELECT table_name AS tab, data_length + index_length AS bytes FROM information_schema.tables
      WHERE table_schema = DATABASE()`,
    indexes:
      'SELECT DISTINCT index_name AS name, 1 AS valid FROM information_schema.statistics WHERE table_schema = DATABASE()',
    oldest: `SELECT trx_mysql_thread_id AS id, TIMESTAMPDIFF(SECOND, trx_started, NOW()) AS age,
        concat('connection ', trx_mysql_thread_id) AS who
      FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID() ORDER BY trx_started LIMIT 1`,
    clock: 'SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED) AS now',
  },
  'better-sqlite3': {
    sizes: `SELECT m.tbl_name AS tab, s.pgsize AS bytes FROM dbstat s JOIN sqlite_master m ON m.name = s.name
      WHERE s.aggregate = TRUE`,
    indexes: "SELECT name, 1 AS valid FROM sqlite_master WHERE type = 'index'",
  },
};

const NO_CATALOGUE: Catalogue = { sizes: '', indexes: '' };

/**
 * Examines the database: schema versions, indexes, sizes, dead rows, the oldest transaction and the clocks. It only reads.
 *
 * @throws StorageUnavailableError if the database does not answer
 */
export async function examine(database: Database, groups: readonly SchemaGroup[]): Promise<readonly StorageFinding[]> {
  const { dialect } = database;
  const catalogue = CATALOGUES[dialect.driver] ?? NO_CATALOGUE;
  const statements = versionsOf(groups).flatMap(({ up }) => up(dialect));
  const tables = [...tablesOf(statements), SCHEMA_TABLE];
  const ask = async (sql: string | undefined): Promise<readonly Row[] | undefined> => {
    if (sql === undefined) return undefined;
    try {
      return await database.browse(() => rowsOf(sql), undefined);
    } catch (error) {
      if (error instanceof StorageUnavailableError) throw error;
      // This user may not read the view, for example.
      return undefined;
    }
  };
  const begun = Date.now();
  const clock = await ask(catalogue.clock);
  const ended = Date.now();
  return [
    ...schema(await ask(`SELECT name, applied_at FROM ${SCHEMA_TABLE}`), groups),
    ...indexes(await ask(catalogue.indexes), indexesOf(statements)),
    ...(catalogue.clock === undefined ? [] : clocks(clock, begun, ended)),
    ...(catalogue.oldest === undefined ? [] : oldest(await ask(catalogue.oldest))),
    ...(await database.browse(() => riskySettings(dialect.driver), undefined)).map(todo),
    ...dead(await ask(catalogue.dead), tables),
    ...sizes(await ask(catalogue.sizes), tables),
    ...log(dialect.driver === 'better-sqlite3' ? await ask('PRAGMA database_list') : undefined),
  ];
}

function fine(text: string): StorageFinding {
  return { text, todo: false };
}

function todo(text: string): StorageFinding {
  return { text, todo: true };
}

function schema(rows: readonly Row[] | undefined, groups: readonly SchemaGroup[]): readonly StorageFinding[] {
  const applied = new Map((rows ?? []).map((row) => [textOf(row, 'name'), integerOf(row, 'applied_at')]));
  const names = versionsOf(groups).map(({ name }) => name);
  const missing = names.filter((name) => !applied.get(name));
  const broken = missing.filter((name) => applied.has(name));
  return [
    fine(`The schema has ${names.length - missing.length} of ${names.length} versions.`),
    ...(missing.length === 0
      ? []
      : [
          todo(
            `The schema lacks ${missing.join(', ')}: start once with migrations: 'run', or run messagingMigrations.`,
          ),
        ]),
    ...(broken.length === 0
      ? []
      : [
          todo(
            `The migration to ${broken.join(', ')} is in progress, or was interrupted: the next start continues it.`,
          ),
        ]),
  ];
}

function indexes(rows: readonly Row[] | undefined, wanted: readonly string[]): readonly StorageFinding[] {
  if (!rows) return [unreadable('The indexes')];
  const valid = new Map(rows.map((row) => [textOf(row, 'name'), row.valid === true || Number(row.valid) === 1]));
  const missing = wanted.filter((name) => !valid.has(name));
  const invalid = wanted.filter((name) => valid.get(name) === false);
  if (missing.length + invalid.length === 0) return [fine(`All ${wanted.length} indexes are there.`)];
  return [
    ...missing.map((name) =>
      todo(
        `The index ${name} is missing, so searches read whole tables. Create it again: the source of its table (*.tables.ts) has the statement.`,
      ),
    ),
    ...invalid.map((name) =>
      todo(`The index ${name} is half built and not used: run REINDEX INDEX CONCURRENTLY ${name}.`),
    ),
  ];
}

function clocks(rows: readonly Row[] | undefined, begun: number, ended: number): readonly StorageFinding[] {
  const [row] = rows ?? [];
  if (!row) return [unreadable("The database's clock")];
  const ahead = Math.round((begun + ended) / 2 - integerOf(row, 'now'));
  const text = `The clock of this machine is ${Math.abs(ahead)} ms ${ahead < 0 ? 'behind' : 'ahead of'} the database's.`;
  return [Math.abs(ahead) > CLOCK_MS ? todo(`${text} Set both by NTP.`) : fine(text)];
}

function oldest(rows: readonly Row[] | undefined): readonly StorageFinding[] {
  if (!rows) return [unreadable('The oldest transaction')];
  const [row] = rows;
  if (!row) return [fine('No transaction stays open.')];
  const age = integerOf(row, 'age');
  const text = `The oldest transaction is ${age} s old: ${textOf(row, 'who')}.`;
  return [
    age > OLD_S
      ? todo(`${text} As long as it is open, dead rows are kept and claims read past them: end it.`)
      : fine(text),
  ];
}

function dead(rows: readonly Row[] | undefined, tables: readonly string[]): readonly StorageFinding[] {
  return (rows ?? [])
    .filter((row) => tables.includes(textOf(row, 'name')))
    .map((row) => ({ name: textOf(row, 'name'), dead: integerOf(row, 'dead'), live: integerOf(row, 'live') }))
    .filter((table) => table.dead > 0)
    .map((table) => {
      const share = table.dead / (table.dead + table.live);
      const text = `${table.name}: ${table.dead} of ${table.dead + table.live} rows are dead (${Math.round(share * 100)} %).`;
      const isMuch = share > DEAD_SHARE && table.dead > DEAD_ROWS;
      return isMuch
        ? todo(`${text} Autovacuum does not keep up: look for an old transaction, or VACUUM it.`)
        : fine(text);
    });
}

function sizes(rows: readonly Row[] | undefined, tables: readonly string[]): readonly StorageFinding[] {
  if (!rows) return [unreadable('The sizes of the tables')];
  const bytes = new Map<string, number>();
  for (const row of rows) {
    const table = textOf(row, 'tab');
    bytes.set(table, (bytes.get(table) ?? 0) + integerOf(row, 'bytes'));
  }
  return tables
    .filter((table) => bytes.has(table))
    .map((table) => fine(`${table}: ${((bytes.get(table) ?? 0) / 1e6).toFixed(1)} MB with its indexes.`));
}

/** Checks the size of a SQLite file's log, which grows while some reader has an old snapshot. */
function log(rows: readonly Row[] | undefined): readonly StorageFinding[] {
  const file = rows?.find((row) => row.name === 'main')?.file;
  if (typeof file !== 'string' || file === '') return [];
  const bytes = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const text = `The log of the file (-wal) has ${(bytes / 1e6).toFixed(1)} MB.`;
  return [bytes > WAL_BYTES ? todo(`${text} A program reads the file in one long transaction: end it.`) : fine(text)];
}

function unreadable(what: string): StorageFinding {
  return fine(`${what} cannot be read: this user has no right to.`);
}
