import { describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { SCHEMA } from '../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { Change, Dialect } from '../../../src/storage/dialect.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { checkSchema, migrate } from '../../../src/storage/schema/migrate.js';
import { type SchemaGroup, tablesOf, versionsOf } from '../../../src/storage/schema/versions.js';
import { ACCOUNT, aSend, START } from '../../contract/storage/fixtures.js';

const WHAT_TO_DO =
  'Start with an empty database, or drop the tables whose names begin with messaging_ in this one; what they hold is lost.';

/** The versions that a database of the last development build before 0.1.0 has recorded. Its tables are today's. */
const DEVELOPMENT_VERSIONS = [
  'core/0001-initial',
  'core/0002-queue',
  'core/0003-retention',
  'core/0004-upkeep',
  'core/0005-events',
  'core/0006-key-limits',
  'core/0007-audit',
  'core/0008-operating',
  'core/0009-audit-by-time',
  'core/0010-event-runs',
  'core/0011-event-epochs',
  'sms/0001-initial',
  'sms/0002-hashed-opt-outs',
  'sms/0003-received',
  'sms/0004-long-texts',
  'msgapp/0001-initial',
  'msgapp/0002-received',
  'msgapp/0003-listings',
  'msgapp/0004-addresses',
  'webhooks/0001-initial',
  'webhooks/0002-attempt-runs',
  'webhooks/0003-by-url',
  'management/0001-sessions',
  'management/0002-usage',
  'management/0003-session-subjects',
  'management/0004-link-subjects',
  'sandbox/0001-initial',
  'sandbox/0002-screens',
];

/** How each database shows its contents. `ddl`: whether a failed first migration is rolled back. */
const CATALOGUES = {
  'better-sqlite3': {
    ddl: true,
    columns: `SELECT m.name AS tab, c.name AS col, c.type AS typ, c."notnull" AS required, c.dflt_value AS preset, c.pk AS keyed
      FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name LIKE 'messaging_%'`,
    indexes:
      "SELECT tbl_name AS tab, name AS idx, sql AS def FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL",
    keyed: `SELECT DISTINCT m.name AS tab FROM sqlite_master m JOIN pragma_table_info(m.name) c
      WHERE m.type = 'table' AND c.pk > 0`,
  },
  postgres: {
    ddl: true,
    columns: `SELECT table_name AS tab, column_name AS col, data_type AS typ, is_nullable AS required, column_default AS preset
      FROM information_schema.columns WHERE table_schema = current_schema() AND table_name LIKE 'messaging_%'`,
    indexes: `SELECT tablename AS tab, indexname AS idx, indexdef AS def FROM pg_indexes WHERE schemaname = current_schema()`,
    keyed: `SELECT table_name AS tab FROM information_schema.table_constraints
      WHERE constraint_type = 'PRIMARY KEY' AND table_schema = current_schema()`,
  },
  mysql: {
    ddl: false,
    columns: `SELECT table_name AS tab, column_name AS col, column_type AS typ, is_nullable AS required, column_default AS preset
      FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name LIKE 'messaging_%'`,
    indexes: `SELECT table_name AS tab, index_name AS idx, group_concat(column_name ORDER BY seq_in_index) AS def
      FROM information_schema.statistics WHERE table_schema = DATABASE() GROUP BY table_name, index_name`,
    keyed: `SELECT table_name AS tab FROM information_schema.table_constraints
      WHERE constraint_type = 'PRIMARY KEY' AND table_schema = DATABASE()`,
  },
};

function catalogueOf({ options }: DataSource) {
  if (options.type === 'postgres') return CATALOGUES.postgres;
  return options.type === 'better-sqlite3' ? CATALOGUES['better-sqlite3'] : CATALOGUES.mysql;
}

/** Everything that the database has under our names, as sorted lines. */
async function schemaOf(dataSource: DataSource): Promise<readonly string[]> {
  const { columns, indexes } = catalogueOf(dataSource);
  const rows: object[] = [...(await dataSource.query(columns)), ...(await dataSource.query(indexes))];
  return rows.map((row) => JSON.stringify(row)).sort();
}

async function tablesIn(dataSource: DataSource): Promise<readonly string[]> {
  const rows: { tab: string }[] = await dataSource.query(catalogueOf(dataSource).columns);
  return [...new Set(rows.map(({ tab }) => tab))].sort();
}

function recordedIn(dataSource: DataSource): Promise<{ name: string; at: number }[]> {
  return dataSource
    .query('SELECT name, applied_at AS at FROM messaging_schema ORDER BY name')
    .then((rows: { name: string; at: unknown }[]) => rows.map(({ name, at }) => ({ name, at: Number(at) })));
}

/** The error of a start. Fails if there is none. */
async function refusalOf(database: DataSource, migrations: 'run' | 'check'): Promise<unknown> {
  const storage = new TypeormStorage({ database, migrations });
  const fault: unknown = await storage.start().then(
    () => undefined,
    (error: unknown) => error,
  );
  await storage.stop();
  expect(fault).toBeInstanceOf(MessagingOptionsError);
  return fault;
}

async function migrated(dataSource: DataSource, groups: readonly SchemaGroup[], now: number): Promise<void> {
  const db = await databaseFor(dataSource);
  await db.migrate(() => migrate(db.dialect, now, groups));
}

/** A migration that stops before its statement of that number, from 0. */
async function brokenOff(dataSource: DataSource, groups: readonly SchemaGroup[], at: number): Promise<void> {
  const db = await databaseFor(dataSource);
  const { dialect } = db;
  let left = at;
  const breaking: Dialect = Object.create(dialect, {
    define: {
      *value(change: Change) {
        if (left-- === 0) throw new Error('The power is gone.');
        return yield* dialect.define(change);
      },
    },
  });
  await expect(db.migrate(() => migrate(breaking, 1, groups))).rejects.toThrow('The power is gone.');
}

/** How many statements of DDL a migration of an empty database executes. */
async function statementsIn(dataSource: DataSource, groups: readonly SchemaGroup[]): Promise<number> {
  const { dialect } = await databaseFor(dataSource);
  return versionsOf(groups).flatMap(({ up }) => up(dialect)).length;
}

/** Our schema in a later release: a version more in a group, and a group more. */
const LATER: readonly SchemaGroup[] = SCHEMA.map(({ name, versions }) =>
  name === 'sms' ? { name, versions: [...versions, { name: '0002-country', up: country }] } : { name, versions },
).concat({
  name: 'letter',
  versions: [
    {
      name: '0001-initial',
      up: (dialect) => [`CREATE TABLE messaging_letter (id ${dialect.columnType('serial')} PRIMARY KEY)`],
    },
    {
      name: '0002-stamp',
      up: (dialect) => [`ALTER TABLE messaging_letter ADD COLUMN stamp ${dialect.columnType('small')}`],
    },
  ],
});

function country(dialect: Dialect): string[] {
  return [
    `ALTER TABLE messaging_sms_part ADD COLUMN country ${dialect.columnType('id')}`,
    'CREATE INDEX messaging_sms_part_country ON messaging_sms_part (country)',
    'DROP INDEX messaging_sms_part_expiry',
  ];
}

/** Tests of our schema on each database. @param open an empty database of its own, closed after the test */
export function schemaRules(open: () => Promise<DataSource>): void {
  test('every table has a primary key, and the columns for later versions exist without being written', async () => {
    const dataSource = await open();
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    const keyed: { tab: string }[] = await dataSource.query(catalogueOf(dataSource).keyed);
    const { dialect } = await databaseFor(dataSource);
    const made = tablesOf(versionsOf(SCHEMA).flatMap(({ up }) => up(dialect)));
    expect(await tablesIn(dataSource)).toEqual([...made, 'messaging_schema'].sort());
    expect(
      keyed
        .map(({ tab }) => tab)
        .filter((tab) => tab.startsWith('messaging_'))
        .sort(),
    ).toEqual([...made, 'messaging_schema'].sort());
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 10, at: START });
    await storage.store(OutboxStore).commit([aSend(1)], decide);
    expect(await dataSource.query('SELECT metadata, trace FROM messaging_message')).toEqual([
      { metadata: null, trace: null },
    ]);
    expect(await dataSource.query('SELECT priority FROM messaging_recipient')).toEqual([{ priority: 0 }]);
    await storage.stop();
  });

  test.each(['run', 'check'] as const)(
    'a database of a development build from before 0.1.0 is refused and left untouched (%s)',
    async (migrations) => {
      const dataSource = await open();
      const storage = new TypeormStorage({ database: dataSource });
      await storage.start();
      await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
      await storage.stop();
      await dataSource.query('DELETE FROM messaging_schema');
      for (const name of DEVELOPMENT_VERSIONS) {
        await dataSource.query(`INSERT INTO messaging_schema VALUES ('${name}', 5)`);
      }
      const all = async () => [
        await schemaOf(dataSource),
        await recordedIn(dataSource),
        await dataSource.query('SELECT * FROM messaging_account'),
      ];
      const before = await all();
      expect(await refusalOf(dataSource, migrations)).toHaveProperty(
        'message',
        'Option storage: a development build from before 0.1.0 made this database, which cannot be upgraded: start with an empty database, or drop all tables in this one whose names begin with messaging_, and lose what they hold.',
      );
      expect(await all()).toEqual(before);
    },
  );

  test.each([
    ['without versions', []],
    [
      'whose first version broke off, with no version recorded',
      ['CREATE TABLE messaging_schema (name VARCHAR(191) NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)'],
    ],
  ])('tables of ours %s are refused and left untouched', async (_, first) => {
    const dataSource = await open();
    for (const sql of first) await dataSource.query(sql);
    await dataSource.query('CREATE TABLE messaging_recipient (id INT PRIMARY KEY)');
    await dataSource.query('CREATE TABLE messaging_of_the_host (id INT PRIMARY KEY)');
    const before = await schemaOf(dataSource);
    expect(await refusalOf(dataSource, 'run')).toHaveProperty(
      'message',
      `Option storage: the database has tables that this schema did not make (messaging_recipient). ${WHAT_TO_DO}`,
    );
    expect(await schemaOf(dataSource)).toEqual(before);
  });

  test.each(['run', 'check'] as const)('a process refuses versions that it does not know (%s)', async (migrations) => {
    const dataSource = await open();
    await migrated(dataSource, LATER, 1);
    const before = [await schemaOf(dataSource), await recordedIn(dataSource)];
    expect(await refusalOf(dataSource, migrations)).toHaveProperty(
      'message',
      'Option storage: the database has schema versions that this process does not know (letter/0001-initial, letter/0002-stamp, sms/0002-country): a newer version of nestjs-messaging has migrated it. Run that version, or a newer one.',
    );
    expect([await schemaOf(dataSource), await recordedIn(dataSource)]).toEqual(before);
  });

  describe('added versions', () => {
    test('run once, in the order of their groups, even if the first ones ran earlier', async () => {
      const dataSource = await open();
      await migrated(dataSource, SCHEMA, 1);
      const db = await databaseFor(dataSource);
      await expect(db.read(() => checkSchema(LATER))).rejects.toThrow(
        "migrations is 'check' and the schema lacks sms/0002-country, letter/0001-initial, letter/0002-stamp: run messagingMigrations first.",
      );
      await migrated(dataSource, LATER, 2);
      await migrated(dataSource, LATER, 3);
      const first = versionsOf(SCHEMA).map(({ name }) => ({ name, at: 1 }));
      const added = ['letter/0001-initial', 'letter/0002-stamp', 'sms/0002-country'].map((name) => ({ name, at: 2 }));
      expect(await recordedIn(dataSource)).toEqual([...first, ...added].sort((a, b) => (a.name < b.name ? -1 : 1)));
      expect(await dataSource.query('SELECT stamp FROM messaging_letter')).toEqual([]);
      await db.read(() => checkSchema(LATER));
    });

    test('leave nothing behind if one fails, or are completed by the next start', async () => {
      const dataSource = await open();
      await migrated(dataSource, SCHEMA, 1);
      const before = [await schemaOf(dataSource), await recordedIn(dataSource)];
      // Before the drop of an index, and after it, before the next group.
      for (const statement of [2, 3]) {
        await brokenOff(dataSource, LATER, statement);
        if (dataSource.options.type === 'better-sqlite3') {
          expect([await schemaOf(dataSource), await recordedIn(dataSource)]).toEqual(before);
        } else {
          expect(await recordedIn(dataSource)).toContainEqual({
            name: 'sms/0002-country',
            at: statement === 2 ? 0 : 1,
          });
        }
      }
      await migrated(dataSource, LATER, 2);
      const finished = await schemaOf(dataSource);
      const fresh = await open();
      await migrated(fresh, LATER, 2);
      expect(finished).toEqual(await schemaOf(fresh));
    });
  });

  test('a first migration that stopped at any place is completed by the next start', async () => {
    const fresh = await open();
    await migrated(fresh, SCHEMA, 2);
    const whole = await schemaOf(fresh);
    const dataSource = await open();
    const statements = await statementsIn(dataSource, SCHEMA);
    // All but the last are in the first version, because MariaDB does not run again what it has recorded as complete.
    // Each stop comes after the previous one, because the start in between finds what that one left.
    const inFirst = await statementsIn(dataSource, [{ name: 'first', versions: versionsOf(SCHEMA).slice(0, 1) }]);
    for (const place of [0, 1, 2, inFirst - 1, statements - 1]) {
      await brokenOff(dataSource, SCHEMA, place);
      if (catalogueOf(dataSource).ddl) expect(await tablesIn(dataSource)).toEqual([]);
      const db = await databaseFor(dataSource);
      await expect(db.read(() => checkSchema(SCHEMA))).rejects.toThrow(/the schema lacks .*sandbox\/0001-initial/);
    }
    await migrated(dataSource, SCHEMA, 2);
    expect(await schemaOf(dataSource)).toEqual(whole);
    const recorded = await recordedIn(dataSource);
    expect(recorded.map(({ name }) => name)).toEqual(
      versionsOf(SCHEMA)
        .map(({ name }) => name)
        .sort(),
    );
    expect(recorded.filter(({ at }) => at === 0)).toEqual([]);
  });
}
