import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SystemClock } from '../../../common/clock.js';
import { MessagingOptionsError } from '../../../common/errors.js';
import type { Dialect } from '../dialects/dialect.js';
import { dialectFor } from '../dialects/dialect-for.js';
import { SqliteDialect } from '../dialects/sqlite-dialect.js';
import { codeOf, driveOn } from '../engine/host-transaction.js';
import { type Operation, rowsOf, write } from '../engine/operation.js';
import { SCHEMA_TABLE, schemaVersions } from './schema.js';

/** Brings our tables up to date; safe to run by several instances at once and any number of times. */
export function migrate(dialect: Dialect, now: number): Operation<void> {
  return dialect.exclusively(() => addMissing(dialect, now));
}

function* addMissing(dialect: Dialect, now: number): Operation<void> {
  yield* write(
    `CREATE TABLE IF NOT EXISTS ${SCHEMA_TABLE} (name ${dialect.columnType('id')} NOT NULL PRIMARY KEY, applied_at ${dialect.columnType('integer')} NOT NULL)`,
  );
  const applied = yield* appliedVersions();
  for (const { name, up } of schemaVersions(dialect)) {
    if (applied.has(name)) continue;
    for (const sql of up) yield* dialect.define(sql);
    yield* write(`INSERT INTO ${SCHEMA_TABLE} (name, applied_at) VALUES (?, ?)`, name, now);
  }
}

/** Refuses to start on a schema that lacks a version; for hosts that run migrations themselves. */
export function* checkSchema(dialect: Dialect): Operation<void> {
  const applied = yield* appliedVersionsIfAny();
  const missing = schemaVersions(dialect).filter(({ name }) => !applied.has(name));
  if (missing.length > 0) {
    throw new MessagingOptionsError(
      `Option storage: migrations is 'check' and the schema lacks ${missing.map(({ name }) => name).join(', ')}: run messagingMigrations first.`,
    );
  }
}

function* appliedVersions(): Operation<ReadonlySet<unknown>> {
  const rows = yield* rowsOf(`SELECT name FROM ${SCHEMA_TABLE}`);
  return new Set(rows.map(({ name }) => name));
}

/** As {@link appliedVersions}; none where the database has no table of ours. */
function* appliedVersionsIfAny(): Operation<ReadonlySet<unknown>> {
  try {
    return yield* appliedVersions();
  } catch (error) {
    if (isNoTable(error)) return new Set();
    throw error;
  }
}

function isNoTable(error: unknown): boolean {
  const code = codeOf(error);
  // SQLite has one code for this and for all other mistakes.
  if (code === 'SQLITE_ERROR') return /no such table/.test(String(error));
  return code === '42P01' || code === 'ER_NO_SUCH_TABLE';
}

const TABLES = [
  ...['account', 'api_key', 'signature', 'message', 'recipient', 'trail', 'ledger', 'idempotency', 'phone_message'],
  'sent_to',
  ...['guard', 'sms_part', 'sms_parked', 'sms_route', 'opt_out', 'opt_out_list'],
  ...['session', 'session_step', 'session_credential', 'media', 'media_chunk'],
];

/** Our schema as a TypeORM migration, for hosts that keep all their migrations in one place (`migrations: 'check'`). */
export class NestjsMessagingSchema1763683200000 implements MigrationInterface {
  readonly name: string = 'NestjsMessagingSchema1763683200000';

  /** Brings the schema up to date, whatever it lacks. */
  async up(runner: QueryRunner): Promise<void> {
    const dialect = await dialectFor(runner.connection.options.type, (sql) => runner.query(sql));
    const now = new SystemClock().now();
    await driveOn(runner, dialect, migrate(dialect, now));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE messaging_${table}`);
    await runner.query(`DROP TABLE ${SCHEMA_TABLE}`);
  }
}

/**
 * A later version: TypeORM runs a migration once, so each version needs one of its own. It goes with the first; by itself
 * it is not undone, as what came with it holds messages by then.
 */
function laterVersion(stamp: number): new () => MigrationInterface {
  return class extends NestjsMessagingSchema1763683200000 {
    override readonly name = `NestjsMessagingSchema${stamp}`;
    override async down(): Promise<void> {}
  };
}

const FIRST = 1_763_683_200_000;
const LATER = schemaVersions(new SqliteDialect()).slice(1);

/** All our migrations, in order: one for each version of the schema. */
export const messagingMigrations: (new () => MigrationInterface)[] = [
  NestjsMessagingSchema1763683200000,
  ...LATER.map((_, index) => laterVersion(FIRST + index + 1)),
];
