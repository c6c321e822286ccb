import { describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { DAY_MS } from '../../../src/common/time.js';
import { OverviewStore } from '../../../src/management/usage/overview-store.js';
import { UsageStore } from '../../../src/management/usage/usage-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { Database } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { rowsOf } from '../../../src/storage/engine/operation.js';
import { ACCOUNT, aSend, range, recipients, START } from '../../contract/storage/fixtures.js';
import { describeStorage } from '../../contract/storage/storage-contract.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { connectPostgres, createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { CollectRunner } from '../../support/jest/collect-runner.js';
import { PlannedStatements } from '../../support/storage/explained.js';
import { fillTables } from '../../support/storage/filled-tables.js';
import { recordStatements } from '../../support/storage/recorded-statements.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

const opened = closeAfterEach();

/** How many rows each table gets, and how many of them a statement may read or compare in vain. */
const ROWS = 5000;
const FEW = 200;

/**
 * The parts of the contract whose statements are examined. The other parts run the same statements with more rows, or
 * concurrently.
 */
const TOPICS =
  `accounts, api keys, audit log, caps of keys, claims, commit, endpoints, erasure, events, expire, ledger, listings,
  listing, metadata, next due, opt-outs, overview, paused accounts, policy records, received texts, received messages, refunds,
  retention, sessions, settle, signatures, usage, user sessions`.split(/,\s*/);

/**
 * Statements that by design read a table from its first row to its last, in portions, or that read what the server
 * knows about itself.
 */
const WHOLE = [
  /FROM pg_/,
  // A look-up for each account, because nothing else tells whom a number answers.
  /FROM messaging_account a\) w/,
  // The check of the ledger reads all of these.
  / AS fault/,
  // There are few texts that wait for further parts, so they have no index.
  /messaging_sms_long/,
  // An erasure reads all recipients.
  /r\.number = \$\d+$/,
];

/** The indexes of the live sessions. There are few sessions, so a statement may read all of them. */
const OF_LIVE = /^messaging_session_(live|lease)$/;

onPostgres('the statements of the storage contract on PostgreSQL', () => {
  test('read and compare few rows in vain and are not compiled, whatever the tables looked like when they were planned', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    const observer = opened(await connectPostgres(database.url));
    await observer.query(`ALTER DATABASE ${new URL(database.url).pathname.slice(1)} SET synchronous_commit = off`);
    const made = new TypeormStorage({ database: database.url });
    await made.start();
    await made.stop();
    const { rows } = await observer.query(
      `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'messaging\\_%' AND relname <> 'messaging_schema'`,
    );
    const tables: readonly string[] = rows.map(({ name }) => name);
    const each = (statement: (table: string) => string) => observer.query(tables.map(statement).join('; '));
    await each((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`);
    const runner = new CollectRunner();
    const open = async () => {
      await each((table) => `DELETE FROM ${table}`);
      const storage = new TypeormStorage({ database: database.url, migrations: 'check' });
      await storage.start();
      return { storage, close: () => storage.stop() };
    };
    describeStorage('', open, runner, ['reopen', 'another', 'tamper', 'messageUnits', 'recipientUnits']);
    const { found, stop } = recordStatements();
    const failed: unknown[] = [];
    for (const topic of TOPICS) {
      for (const [name, failure] of await runner.run(` > ${topic} > `))
        if (failure !== undefined) failed.push([name, failure]);
    }
    stop();
    expect(failed).toEqual([]);
    expect(found.size).toBeGreaterThan(200);

    // As if the tables had never been filled or analysed.
    await each((table) => `TRUNCATE ${table}`);
    const looked = [...found.values()].filter(({ sql }) => !WHOLE.some((pattern) => pattern.test(sql)));
    const plan = async () => PlannedStatements.plan(opened(await connectPostgres(database.url)), looked);
    const whileEmpty = await plan();
    await fillTables(observer, ROWS);
    const wrong: unknown[] = [];
    const check = async (planned: string, statements: PlannedStatements) => {
      for (const ran of await statements.run()) {
        if (ran.wasted > FEW || ran.compiled || ran.readWhole.some((index) => !OF_LIVE.test(index)))
          wrong.push({ planned, ...ran });
      }
    };
    await check('while empty', whileEmpty);
    await check('not analysed', await plan());
    await observer.query('ANALYZE');
    await check('analysed', await plan());
    expect(wrong).toEqual([]);
  }, 300_000);

  test('read the recipients that an account’s overview and usage count, and few others, on tables that were never analysed', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    const observer = opened(await connectPostgres(database.url));
    const storage = new TypeormStorage({ database: database.url });
    await storage.start();
    opened({ close: () => storage.stop() });
    const tables = ['message', 'recipient', 'ledger', 'account', 'sent_to'].map((name) => `messaging_${name}`);
    await observer.query(tables.map((table) => `ALTER TABLE ${table} SET (autovacuum_enabled = false)`).join('; '));
    const fill = async () => {
      await fillTables(observer, ROWS, tables);
      await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
      await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: ROWS, at: START });
      const sends = range(100).map((index) => aSend(index, { recipients: recipients(ROWS / 100) }));
      await storage.store(OutboxStore).commit(sends, decide);
    };
    await fill();

    const { found, stop } = recordStatements();
    const [since, until, channels] = [START - DAY_MS, START + DAY_MS, ['sms']];
    const overview = storage.store(OverviewStore);
    const query = { accountId: ACCOUNT, since, until };
    const { counts } = await overview.statuses({ ...query, channels, most: 10_000 });
    await overview.oldestWaiting(ACCOUNT, channels, START);
    await overview.attention(ACCOUNT, channels, START);
    const usage = storage.store(UsageStore);
    const [row] = await usage.usage({ ...query, groupBy: [], now: START });
    await usage.codes(ACCOUNT, since, until);
    stop();
    expect([counts, row?.recipients]).toEqual([{ queued: ROWS }, ROWS]);

    // The kinds of messages are counted one by one, and the last one has no messages.
    const asked = [...found.values()].map((each) => ({
      ...each,
      params: each.params.map((value) => (value === 'otp' ? 'text' : value)),
    }));
    const check = async (planned: PlannedStatements) => {
      const ran = await planned.run();
      expect(Math.max(...ran.map(({ used }) => used))).toBeGreaterThanOrEqual(ROWS);
      expect(ran.filter(({ used, wasted }) => wasted > FEW || used > ROWS + FEW)).toEqual([]);
    };
    const plan = async () => PlannedStatements.plan(opened(await connectPostgres(database.url)), asked);
    await check(await plan());
    await observer.query(`TRUNCATE ${tables.join(', ')}`);
    const whileEmpty = await plan();
    await fill();
    await check(whileEmpty);
  }, 60_000);

  test('are not compiled on our own connections outside of transactions either', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    const source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    opened({ close: () => source.destroy() });
    const settingOf = async (db: Database) => (await db.read(() => rowsOf('SHOW jit')))[0]?.jit;
    // A host's DataSource is left as it is.
    expect(await settingOf(await databaseFor(source))).toBe('on');
    expect(await settingOf(await databaseFor(source, undefined, true))).toBe('off');
  });
});
