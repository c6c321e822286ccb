import { describe, expect, test } from '@jest/globals';
import { TypeormStorage } from '../../src/storage/typeorm-storage.js';
import { describeStorage } from '../../src/testing/storage-contract.js';
import { CollectRunner } from '../support/collect-runner.js';
import { PlannedStatements } from '../support/explained.js';
import { fillTables } from '../support/filled-tables.js';
import { closeAfterEach } from '../support/opened.js';
import { connectPostgres, createPostgresDatabase } from '../support/postgres.js';
import { recordStatements } from '../support/recorded-statements.js';
import { hasServer } from '../support/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;

const opened = closeAfterEach();

/** How many rows each table is given, and how many of them a statement may read or compare in vain. */
const ROWS = 5000;
const FEW = 200;

/** The parts of the contract whose statements are looked at. The others run the same statements with more rows, or at once. */
const TOPICS =
  `accounts, api keys, audit log, caps of keys, claims, commit, endpoints, erasure, events, expire, ledger, listings,
  listing, metadata, next due, opt-outs, overview, paused accounts, policy records, received texts, received messages, refunds,
  retention, sessions, settle, signatures, usage, user sessions`.split(/,\s*/);

/** Statements that read a table from its first row to its last by design, some at a time, or what the server knows of itself. */
const WHOLE = [
  /FROM pg_/,
  // A look-up for each account: nothing else tells whom a number answers.
  /FROM messaging_account a\) w/,
  // The check of the books reads them whole.
  / AS fault/,
  // Texts whose further parts are awaited are few, and have no index.
  /messaging_sms_long/,
  // An erasure walks over all recipients.
  /r\.number = \$\d+$/,
];

/** The indexes of the sessions that live, which are few; whoever looks for them may read all. */
const OF_LIVE = /^messaging_session_(live|lease)$/;

onPostgres('the statements of the storage contract on PostgreSQL', () => {
  test('read and compare few rows in vain and are not compiled, whatever was known of the tables when they were planned', async () => {
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

    // As if they had never been filled or analysed.
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
});
