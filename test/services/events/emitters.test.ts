import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { lowAfterCredit, lowAfterDebit } from '../../../src/storage/low-after.js';
import { SCHEMA_TABLE } from '../../../src/storage/schema/schema-table.js';
import { ACCOUNT, START } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { LOCKING_SERVERS } from '../../support/databases/held-row.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { emitterRules } from '../../support/events/emitters-suite.js';

const opened = closeAfterEach();

for (const [name, { type, port, create }] of Object.entries(LOCKING_SERVERS)) {
  const suite = (await hasServer(name, port)) ? describe : describe.skip;
  suite(`the events that an account gets on ${name}`, () => {
    let place: Awaited<ReturnType<typeof create>>;
    let dataSource: DataSource;
    beforeAll(async () => {
      place = await create();
      dataSource = await new DataSource({ type, url: place.url }).initialize();
    });
    afterAll(async () => {
      await dataSource.destroy();
      await place.drop();
    });
    emitterRules(async () => {
      await emptied(dataSource);
      return dataSource;
    });
  });
}

/** Empties our tables, if there are any, because a new database for each test would take seconds. */
async function emptied(dataSource: DataSource): Promise<void> {
  const schema = dataSource.options.type === 'postgres' ? 'current_schema()' : 'DATABASE()';
  const tables: { name: string }[] = await dataSource.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema} AND table_name <> '${SCHEMA_TABLE}'`,
  );
  for (const { name } of tables) await dataSource.query(`DELETE FROM ${name}`);
}

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? test : test.skip;

onPostgres(
  'a debit that crosses no threshold changes its row on its page (HOT), despite the index of low balances',
  async () => {
    const { url, drop } = await createPostgresDatabase();
    opened({ close: drop });
    const dataSource = await new DataSource({ type: 'postgres', url }).initialize();
    opened({ close: () => dataSource.destroy() });
    const storage = new TypeormStorage({ database: dataSource });
    await storage.start();
    await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
    await storage
      .store(LedgerStore)
      .post({ id: 'op:funds', accountId: ACCOUNT, kind: 'topup', units: 1000, at: START });
    await storage.store(AccountStore).setLowBalance(ACCOUNT, 10);
    const hot = (low: string, balance: string) =>
      dataSource.transaction(async (manager) => {
        const count = async () => {
          const [row] = await manager.query(
            "SELECT pg_stat_get_xact_tuples_hot_updated('messaging_account'::regclass) AS n",
          );
          return Number(row.n);
        };
        const before = await count();
        await manager.query(`UPDATE messaging_account SET low = ${low}, balance = ${balance} WHERE id = '${ACCOUNT}'`);
        return (await count()) - before;
      });
    expect(await hot(lowAfterDebit('5'), 'balance - 5')).toBe(1);
    expect(await hot(lowAfterCredit('5'), 'balance + 5')).toBe(1);
    // The counter-example: if the debit crosses the threshold, the index gets an entry.
    expect(await hot(lowAfterDebit('995'), 'balance - 995')).toBe(0);
  },
);
