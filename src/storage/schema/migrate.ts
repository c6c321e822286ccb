import { Logger } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SystemClock } from '../../common/clock.js';
import { MessagingOptionsError } from '../../common/errors.js';
import type { Change, Dialect } from '../dialect.js';
import { dialectFor } from '../dialect-for.js';
import { codeOf } from '../engine/blame.js';
import { driveOn } from '../engine/host-transaction.js';
import { type Operation, rowsOf, write } from '../engine/operation.js';
import { integerOf, textOf } from '../engine/rows.js';
import { SCHEMA_TABLE } from './schema-table.js';
import { isAdded, isOfOtherCapability, type SchemaGroup, tableOf, tablesOf, versionsOf } from './versions.js';

/** When each recorded version was applied; 0 if its migration was interrupted. */
type Recorded = ReadonlyMap<string, number>;

/** A version that the database lacks. `begun`: an interrupted migration has recorded it. */
interface Missing {
  readonly name: string;
  readonly changes: readonly Change[];
  readonly begun: boolean;
}

/**
 * Applies the versions that the database lacks, while other processes use the database (see `Dialect.define`). Several
 * instances may call it at the same time; they wait for each other. If no version is missing, it only reads.
 *
 * It must not be called in a transaction, unless the dialect migrates in one.
 *
 * @param now milliseconds since the epoch
 * @throws MessagingOptionsError if a development build or a newer version has made the schema, or tables with our names exist
 *   that no version of ours has made; nothing is written then
 */
export function* migrate(dialect: Dialect, now: number, groups: readonly SchemaGroup[]): Operation<void> {
  if ((yield* missingVersions(dialect, groups)).length === 0) return;
  yield* dialect.exclusively(function* () {
    // Another instance may have applied them meanwhile.
    const missing = yield* missingVersions(dialect, groups);
    const isFirst = missing.every(({ changes, begun }) => !begun && changes.every(({ isNew }) => isNew));
    if (!isFirst && !dialect.migratesInTransaction) logMigration(missing);
    yield* isFirst ? dialect.atOnce(() => apply(dialect, now, missing)) : apply(dialect, now, missing);
  });
}

function logMigration(missing: readonly Missing[]): void {
  const names = missing.map(({ name }) => name).join(', ');
  new Logger('TypeormStorage').log(
    `The schema is brought up to date (${names}). On large tables this takes minutes; other processes continue meanwhile.`,
  );
}

function* missingVersions(dialect: Dialect, groups: readonly SchemaGroup[]): Operation<readonly Missing[]> {
  const tables = new Set((yield* rowsOf(dialect.tables)).map((row) => textOf(row, 'name')));
  const recorded = tables.has(SCHEMA_TABLE) ? yield* recordedVersions() : new Map<string, number>();
  refuseUnknown(recorded, groups);
  const versions = versionsOf(groups).map(({ name, up }) => ({ name, statements: up(dialect) }));
  const missing = versions.filter(({ name }) => !recorded.get(name));
  refuseUnrecorded(
    missing.filter(({ name }) => !recorded.has(name)).flatMap(({ statements }) => tablesOf(statements)),
    tables,
  );
  const all = versions.flatMap(({ statements }) => statements);
  const made = new Set<string | undefined>(missing.flatMap(({ statements }) => tablesOf(statements)));
  const changeOf = (sql: string): Change => {
    const table = tableOf(sql, all);
    return { sql, table, isNew: made.has(table) };
  };
  return missing.map(({ name, statements }) => ({
    name,
    changes: statements.map(changeOf),
    begun: recorded.has(name),
  }));
}

function* apply(dialect: Dialect, now: number, missing: readonly Missing[]): Operation<void> {
  yield* write(
    `CREATE TABLE IF NOT EXISTS ${SCHEMA_TABLE} (name ${dialect.columnType('id')} NOT NULL PRIMARY KEY, applied_at ${dialect.columnType('integer')} NOT NULL)`,
  );
  for (const { name, changes, begun } of missing) {
    // If DDL is not transactional, this row shows the next start that existing tables are ours and incomplete. Another
    // process may have written it meanwhile, on another node of Galera. Statements that have already run are then
    // skipped.
    const insert = { sql: `INSERT INTO ${SCHEMA_TABLE} (name, applied_at) VALUES (?, 0)`, params: [name] };
    if (!begun) yield* dialect.insertNew(insert, 'name');
    for (const change of changes) yield* dialect.define(change);
    yield* write(`UPDATE ${SCHEMA_TABLE} SET applied_at = ? WHERE name = ?`, now, name);
  }
}

/**
 * Checks that the database has all versions, for hosts that run migrations themselves.
 *
 * @param isGivenDialect whether the dialect is the host's. Then `messagingMigrations`, which know only ours, cannot
 * make the tables
 * @throws MessagingOptionsError if a version is missing, or a development build or a newer version has made the schema
 */
export function* checkSchema(groups: readonly SchemaGroup[], isGivenDialect = false): Operation<void> {
  const recorded = yield* recordedVersionsIfAny();
  refuseUnknown(recorded, groups);
  const missing = versionsOf(groups).filter(({ name }) => !recorded.get(name));
  if (missing.length > 0) {
    const mustStart = isGivenDialect || missing.every(isAdded);
    const todo = mustStart ? "start once with migrations: 'run'" : 'run messagingMigrations first';
    throw new MessagingOptionsError(
      `Option storage: migrations is 'check' and the schema lacks ${missing.map(({ name }) => name).join(', ')}: ${todo}.`,
    );
  }
}

/**
 * The names of the versions that the database lacks. Further versions in the database belong to a newer process. Older
 * processes can work with them while they are being replaced.
 */
export function* lackingVersions(groups: readonly SchemaGroup[]): Operation<readonly string[]> {
  const recorded = yield* recordedVersionsIfAny();
  return versionsOf(groups).flatMap(({ name }) => (recorded.get(name) ? [] : [name]));
}

function* recordedVersions(): Operation<Recorded> {
  const rows = yield* rowsOf(`SELECT name, applied_at FROM ${SCHEMA_TABLE}`);
  return new Map(rows.map((row) => [textOf(row, 'name'), integerOf(row, 'applied_at')]));
}

/**
 * As {@link recordedVersions}, but returns none if the table is missing. It must not be called in a transaction,
 * because the error would end it.
 */
function* recordedVersionsIfAny(): Operation<Recorded> {
  try {
    return yield* recordedVersions();
  } catch (error) {
    if (isNoTable(error)) return new Map();
    throw error;
  }
}

function isNoTable(error: unknown): boolean {
  const code = codeOf(error);
  // SQLite has the same code for all errors of a statement.
  if (code === 'SQLITE_ERROR') return /no such table/.test(String(error));
  return code === '42P01' || code === 'ER_NO_SUCH_TABLE';
}

const WHAT_TO_DO =
  'Start with an empty database, or drop the tables whose names begin with messaging_ in this one; what they hold is lost.';

/** The prefix of versions that only development builds from before 0.1.0 have recorded. */
const DEVELOPMENT_GROUP = 'core/';

/** Refuses versions that another version of this package has recorded. */
function refuseUnknown(recorded: Recorded, groups: readonly SchemaGroup[]): void {
  const known = new Set(versionsOf(groups).map(({ name }) => name));
  const unknown = [...recorded.keys()].filter((name) => !known.has(name) && !isOfOtherCapability(name, groups)).sort();
  if (unknown.some((name) => name.startsWith(DEVELOPMENT_GROUP))) {
    throw new MessagingOptionsError(
      'Option storage: a development build from before 0.1.0 made this database, which cannot be upgraded: start with an empty database, or drop all tables in this one whose names begin with messaging_, and lose what they hold.',
    );
  }
  if (unknown.length > 0) {
    throw new MessagingOptionsError(
      `Option storage: the database has schema versions that this process does not know (${unknown.join(', ')}): a newer version of nestjs-messaging has migrated it. Run that version, or a newer one.`,
    );
  }
}

/** Refuses tables with our names that no recorded version has made, for example tables of the host. */
function refuseUnrecorded(made: readonly string[], tables: ReadonlySet<string>): void {
  const strange = made.filter((table) => tables.has(table));
  if (strange.length === 0) return;
  throw new MessagingOptionsError(
    `Option storage: the database has tables that this schema did not make (${strange.join(', ')}). ${WHAT_TO_DO}`,
  );
}

/**
 * The timestamp of the first migration, in milliseconds since the epoch. TypeORM runs a migration once by its name, which has the
 * timestamp, so it is later than those of the development builds before 0.1.0.
 */
const FIRST = 1_795_651_200_000;

/**
 * Makes TypeORM migrations of groups of tables, one for each version, because TypeORM runs a migration only once. Each
 * `up` applies all versions that the database lacks. The `down` of the first one drops all tables. The others do
 * nothing in `down`, because the tables contain messages by then.
 */
export function migrationsOf(groups: readonly SchemaGroup[]): (new () => MigrationInterface)[] {
  return versionsOf(groups).map((_, index) => migrationOf(FIRST + index, groups));
}

function migrationOf(stamp: number, groups: readonly SchemaGroup[]): new () => MigrationInterface {
  return class {
    readonly name = `NestjsMessagingSchema${stamp}`;

    async up(runner: QueryRunner): Promise<void> {
      const dialect = await dialectOf(runner);
      // TypeORM may have opened a transaction, by default one for all migrations. A migration cannot refuse it, so ours
      // runs on another connection.
      if (runner.isTransactionActive && !dialect.migratesInTransaction) await besides(runner, dialect, groups);
      else await applyOn(runner, dialect, groups);
    }

    async down(runner: QueryRunner): Promise<void> {
      if (stamp !== FIRST) return;
      const dialect = await dialectOf(runner);
      const made = tablesOf(versionsOf(groups).flatMap(({ up }) => up(dialect)));
      for (const table of [...made, SCHEMA_TABLE]) await runner.query(`DROP TABLE IF EXISTS ${table}`);
    }
  };
}

async function besides({ connection }: QueryRunner, dialect: Dialect, groups: readonly SchemaGroup[]): Promise<void> {
  const runner = connection.createQueryRunner();
  try {
    await applyOn(runner, dialect, groups);
  } finally {
    await runner.release();
  }
}

function applyOn(runner: QueryRunner, dialect: Dialect, groups: readonly SchemaGroup[]): Promise<void> {
  return driveOn(runner, dialect, migrate(dialect, new SystemClock().now(), groups));
}

function dialectOf(runner: QueryRunner): Promise<Dialect> {
  return dialectFor(runner.connection.options.type, (sql) => runner.query(sql));
}
