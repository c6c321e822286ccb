import { describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DataSource, type DataSourceOptions, type QueryRunner } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { SCHEMA } from '../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { type PostgresConnection, preparedConnection } from '../../../src/storage/engine/connection.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { checkSchema, migrate, migrationsOf } from '../../../src/storage/schema/migrate.js';
import { type SchemaGroup } from '../../../src/storage/schema/versions.js';
import { ACCOUNT, aSend, range, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { LOCKING_SERVERS, type LockingServer } from '../../support/databases/held-row.js';
import { hasServer } from '../../support/databases/servers.js';

const opened = closeAfterEach();

/** The number of rows of the large table. */
const ROWS = 100_000;

/** Versions that a later release could bring. */
const INDEX: readonly string[] = ['CREATE INDEX messaging_recipient_later ON messaging_recipient (number, updated_at)'];
const COLUMN = ["ALTER TABLE messaging_recipient ADD COLUMN later VARCHAR(20) NOT NULL DEFAULT ''"] as const;
const DROP: readonly string[] = ['DROP INDEX messaging_recipient_reference'];

function later(...statements: readonly string[]): readonly SchemaGroup[] {
  return [...SCHEMA, { name: 'later', versions: [{ name: '0001-later', up: () => statements }] }];
}

/** Statements that show what a server does. `stuck`: who waits for a table. `builds`: who builds or changes one. */
const LOOKS = {
  postgres: {
    seed: (rows: number) => `INSERT INTO messaging_recipient
      (message_id, position, channel, number, units, refunded_units, status, attempt, updated_at)
      SELECT 'old-' || n, 0, 'sms', n::text, 0, 0, 'delivered', 1, n FROM generate_series(1, ${rows}) n`,
    indexes: `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
      WHERE indisvalid AND relname LIKE 'messaging%'`,
    columns: `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'messaging_recipient'`,
    builds: `SELECT pid AS id, query AS statement FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
      AND query ~ '((CREATE|ALTER).*later|DROP INDEX)' AND pid <> pg_backend_pid()`,
  },
  mysql: {
    seed: (rows: number) => `INSERT INTO messaging_recipient
      (message_id, position, channel, number, units, refunded_units, status, attempt, updated_at)
      SELECT concat('old-', seq), 0, 'sms', seq, 0, 0, 'delivered', 1, seq FROM seq_1_to_${rows}`,
    indexes: `SELECT DISTINCT index_name AS name FROM information_schema.statistics
      WHERE table_schema = DATABASE()`,
    columns: `SELECT column_name AS name FROM information_schema.columns
      WHERE table_schema = DATABASE() AND table_name = 'messaging_recipient'`,
    builds: `SELECT id, info AS statement FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()
      AND (info LIKE 'ALTER TABLE%' OR info LIKE 'CREATE INDEX%' OR info LIKE 'DROP INDEX%')`,
  },
};

/** A database in use: a large table, a sender, and a transaction of the host that has used the table. */
async function inUse({ type, create }: LockingServer, rows = 100) {
  const { url, drop } = await create();
  opened({ close: drop });
  const connect = async (options: Partial<DataSourceOptions> = {}) => {
    const dataSource = await new DataSource(Object.assign({ type, url }, options) as DataSourceOptions).initialize();
    opened({ close: () => dataSource.destroy() });
    return dataSource;
  };
  const storage = new TypeormStorage({ database: url });
  opened({ close: () => storage.stop() });
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: START });
  const dataSource = await connect();
  const looks = LOOKS[type];
  await dataSource.query(looks.seed(rows));
  const names = async (sql: string): Promise<readonly string[]> => {
    const rows: { name: string }[] = await dataSource.query(sql);
    return rows.map(({ name }) => name);
  };
  let sent = 0;
  return {
    connect,
    dataSource,
    /** Accepts and claims. All must finish although the transaction of the host stays open. */
    async send(count: number): Promise<void> {
      for (const _ of range(count)) {
        await storage.store(OutboxStore).commit([aSend(++sent)], decide);
        const order = { channel: 'sms', limit: 1, now: START + 1, leaseUntil: START + 9, abandoned: false };
        expect(await storage.store(OutboxStore).claim(order)).toHaveLength(1);
      }
    },
    async migrate(statements: readonly string[], database?: DataSource): Promise<void> {
      const db = await databaseFor(database ?? (await connect()));
      await db.migrate(() => migrate(db.dialect, 1, later(...statements)));
    },
    isComplete: async (statements: readonly string[]) => {
      const db = await databaseFor(dataSource);
      await db.read(() => checkSchema(later(...statements)));
    },
    indexes: () => names(looks.indexes),
    columns: () => names(looks.columns),
    /** The connections that run a statement which changes a table and contains this text. */
    async builds(text = ''): Promise<readonly number[]> {
      const rows: { id: unknown; statement: string }[] = await dataSource.query(looks.builds);
      return rows.filter(({ statement }) => statement.includes(text)).map(({ id }) => Number(id));
    },
    /** Opens a transaction of a host that has read or written the table. */
    async standing(sql: string): Promise<QueryRunner> {
      const runner = (await connect()).createQueryRunner();
      await runner.startTransaction();
      await runner.query(sql);
      opened({ close: () => end(runner) });
      return runner;
    },
  };
}

const READS = 'SELECT * FROM messaging_recipient LIMIT 1';
const WRITES = "UPDATE messaging_recipient SET units = 1 WHERE message_id = 'old-1' AND position = 0";

async function end(runner: QueryRunner): Promise<void> {
  if (runner.isTransactionActive) await runner.rollbackTransaction();
  await runner.release();
}

/** Ends the open transaction, and then the migration that waits for it. */
async function ended(runner: QueryRunner, migration: Promise<void>): Promise<void> {
  await end(runner);
  await migration;
}

Logger.overrideLogger(false);

for (const [name, server] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, server.port)) ? describe : describe.skip;
  suite(`a schema version on large tables in use, on ${name}`, () => {
    test.each([
      ['an index is built', INDEX, WRITES],
      ['an index is dropped', DROP, WRITES],
      ['a column is added', COLUMN, READS],
    ])('%s while a transaction stays open, and all others go on', async (_, statements, used) => {
      const db = await inUse(server);
      const standing = await db.standing(used);
      const migration = db.migrate(statements);
      await until(async () => (await db.builds()).length > 0);
      await db.send(5);
      await ended(standing, migration);
      await db.isComplete(statements);
      expect((await db.indexes()).includes('messaging_recipient_later')).toBe(statements === INDEX);
      expect((await db.indexes()).includes('messaging_recipient_reference')).toBe(statements !== DROP);
      expect((await db.columns()).includes('later')).toBe(statements === COLUMN);
    });

    test('a migration whose connection is ended at any point is completed by the next start', async () => {
      const db = await inUse(server);
      // Each statement changes another table, so a transaction that uses that table stops the migration there.
      const places = [
        { statement: COLUMN[0], changes: 'ADD COLUMN later', used: READS },
        {
          statement: 'CREATE INDEX messaging_account_later ON messaging_account (created_at)',
          changes: 'messaging_account_later',
          used: 'UPDATE messaging_account SET balance = balance',
        },
        {
          statement: 'DROP INDEX messaging_ledger_account',
          changes: 'messaging_ledger_account',
          used: 'UPDATE messaging_ledger SET units = units',
        },
      ] as const;
      const statements = places.map(({ statement }) => statement);
      const killed = new Set<number>();
      for (const { statement, changes, used } of places) {
        const standing = await db.standing(used);
        const migration = db.migrate(statements).then(
          () => 'done',
          () => 'broken off',
        );
        // The server may still list an earlier connection that was killed, with its statement.
        const [id] = await until(
          async () => (await db.builds(changes)).filter((id) => !killed.has(id)),
          (ids) => ids.length > 0,
        );
        killed.add(Number(id));
        await db.dataSource.query(server.type === 'postgres' ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`);
        expect([statement, await migration]).toEqual([statement, 'broken off']);
        await end(standing);
      }
      await db.migrate(statements);
      await db.isComplete(statements);
      expect(await db.columns()).toContain('later');
      expect(await db.indexes()).toContain('messaging_account_later');
      expect(await db.indexes()).not.toContain('messaging_ledger_account');
    });

    test('two processes that start at once build it once', async () => {
      const db = await inUse(server);
      const standing = await db.standing(WRITES);
      const migrations = Promise.all([db.migrate(INDEX), db.migrate(INDEX)]);
      const [first] = await until(
        () => db.builds(),
        (ids) => ids.length > 0,
      );
      await db.send(3);
      expect((await db.builds()).filter((id) => id !== first)).toEqual([]);
      await ended(
        standing,
        migrations.then(() => undefined),
      );
      await db.isComplete(INDEX);
    });

    test.each(['all', 'each', 'none'] as const)(
      'among a host’s migrations in transactions of TypeORM (%s) it is built the same way',
      async (transaction) => {
        const db = await inUse(server);
        const host = await db.connect({ migrations: migrationsOf(later(...INDEX, ...COLUMN)) });
        const standing = await db.standing(WRITES);
        const migration = host.runMigrations({ transaction });
        await until(async () => (await db.builds()).length > 0);
        await db.send(3);
        await ended(
          standing,
          migration.then(() => undefined),
        );
        await db.isComplete([...INDEX, ...COLUMN]);
        expect(await db.indexes()).toContain('messaging_recipient_later');
      },
    );

    test('a complete schema is only read', async () => {
      const used = await inUse(server);
      const db = await databaseFor(used.dataSource);
      const seen: string[] = [];
      await db.migrate(function* () {
        const migration = migrate(db.dialect, 1, SCHEMA);
        for (let step = migration.next(); !step.done; step = migration.next(yield step.value))
          seen.push(step.value.sql);
      });
      expect(seen.filter((sql) => /LOCK|INSERT|UPDATE|CREATE|BEGIN/i.test(sql))).toEqual([]);
      expect(seen).toHaveLength(2);
    });
  });
}

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

onPostgres('the build of an index on PostgreSQL', () => {
  test('makes nobody wait for the table', async () => {
    const db = await inUse(LOCKING_SERVERS.PostgreSQL as LockingServer, ROWS);
    const standing = await db.standing(WRITES);
    const migration = db.migrate(INDEX);
    await until(async () => (await db.builds()).length > 0);
    const stuck = "SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'relation'";
    for (const _ of range(20)) {
      await db.send(1);
      expect(await db.dataSource.query(stuck)).toEqual([]);
    }
    await ended(standing, migration);
  });

  test('that continues in the server after its process was killed is waited for, and not begun twice', async () => {
    const db = await inUse(LOCKING_SERVERS.PostgreSQL as LockingServer);
    const standing = await db.standing(WRITES);
    const killed = await db.connect();
    const runner = killed.createQueryRunner();
    const connection: PostgresConnection & { connection: { stream: { destroy(): void } } } = await runner.connect();
    const { dialect } = await databaseFor(killed);
    const broken = dialect.exclusively(function* () {
      yield* dialect.define({ sql: INDEX[0] ?? '', table: 'messaging_recipient', isNew: false });
    });
    const { run } = preparedConnection(connection, (statement) => ({ ...statement, name: '' }));
    const driven = (async () => {
      for (let step = broken.next(); !step.done; ) step = broken.next(await run(step.value));
    })().catch(() => undefined);
    const [first] = await until(
      () => db.builds(),
      (pids) => pids.length > 0,
    );
    connection.connection.stream.destroy();
    await driven;
    const migration = db.migrate(INDEX);
    await db.send(3);
    expect(await db.builds()).toEqual([first]);
    await ended(standing, migration);
    await db.isComplete(INDEX);
    expect(await db.indexes()).toContain('messaging_recipient_later');
  });
});
