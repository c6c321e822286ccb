import { describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { messagingMigrations } from '../../../src/messaging/schema.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { ACCOUNT, aSend, onceKey, recipients, START } from '../../contract/storage/fixtures.js';
import { eventually } from '../../support/common/eventually.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { createPostgresDatabase } from '../../support/databases/postgres.js';
import { hasServer } from '../../support/databases/servers.js';
import { expectCapAmongHosts } from '../../support/mounting/host-caps.js';

const suite = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const opened = closeAfterEach();

/** A connection that observes, and the URL of its empty database. */
async function openDatabase() {
  const { url, drop } = await createPostgresDatabase();
  opened({ close: drop });
  const client = new Client({ connectionString: url });
  await client.connect();
  opened({ close: () => client.end() });
  return { url, client };
}

async function openDataSource(url: string, extra: object = {}): Promise<DataSource> {
  const dataSource = await new DataSource({ type: 'postgres', url, extra }).initialize();
  opened({ close: () => dataSource.destroy() });
  return dataSource;
}

async function start(storage: TypeormStorage): Promise<TypeormStorage> {
  await storage.start();
  opened({ close: () => storage.stop() });
  return storage;
}

async function fund(storage: TypeormStorage, units: number): Promise<void> {
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'p', accountId: ACCOUNT, kind: 'topup', units, at: START });
}

suite('peculiarities of PostgreSQL', () => {
  test('a host’s own lock timeout is unchanged after a send in its transaction, accepted or not', async () => {
    const { url } = await openDatabase();
    const host = await openDataSource(url);
    const storage = await start(new TypeormStorage({ database: host }));
    await fund(storage, 3);
    await host.transaction(async (manager) => {
      await manager.query("SET LOCAL lock_timeout = '60s'");
      const waits = async () => (await manager.query('SHOW lock_timeout'))[0].lock_timeout;
      await storage.store(OutboxStore).commit([aSend(1)], decide, { manager });
      expect(await waits()).toBe('1min');
      expect(
        await storage.store(OutboxStore).commit([aSend(2, { recipients: recipients(3) })], decide, { manager }),
      ).toMatchObject([{ kind: 'refused' }]);
      await expect(storage.store(OutboxStore).commit([aSend(3), aSend(3)], decide, { manager })).rejects.toThrow();
      expect(await waits()).toBe('1min');
    });
  });

  test('sends of a key with a cap, inside transactions of the host and beside them, do not exceed it', async () => {
    const { url } = await openDatabase();
    const host = await openDataSource(url);
    const storage = await start(new TypeormStorage({ database: host }));
    await fund(storage, 1000);
    await expectCapAmongHosts(storage, host);
  });

  describe('a setting that we make in a transaction', () => {
    /** A host with one connection, on which its statements and ours take turns. */
    async function openHost(units: number) {
      const { url } = await openDatabase();
      const host = await openDataSource(url, { max: 1, pipeline: true, statement_timeout: 20_000 });
      const untouched = await settings(host);
      const storage = await start(new TypeormStorage({ database: host }));
      await fund(storage, units);
      return { host, storage, untouched };
    }

    type Queries = Pick<DataSource, 'query'>;
    const settings = (on: Queries) => on.query('SELECT name, setting FROM pg_settings ORDER BY name');

    test('does not reach a host’s transaction, whether our part of it succeeds, is refused or fails', async () => {
      const { host, storage } = await openHost(3);
      await host.transaction(async (manager) => {
        await manager.query("SET LOCAL lock_timeout = '60s'; SET LOCAL enable_hashjoin = off");
        const before = await settings(manager);
        await storage.store(OutboxStore).commit([aSend(1)], decide, { manager });
        expect(await settings(manager)).toEqual(before);
        await storage.store(OutboxStore).commit([aSend(2, { recipients: recipients(3) })], decide, { manager });
        expect(await settings(manager)).toEqual(before);
        await expect(storage.store(OutboxStore).commit([aSend(3), aSend(3)], decide, { manager })).rejects.toThrow();
        expect(await settings(manager)).toEqual(before);
        await storage
          .store(LedgerStore)
          .post({ id: 'q', accountId: ACCOUNT, kind: 'topup', units: 5, at: START }, { manager });
        await storage.store(AccountStore).createAccount({ id: 'b', name: 'B', createdAt: START }, { manager });
        expect(await settings(manager)).toEqual(before);
      });
    });

    test('does not stay on the connection that a host’s statement gets next', async () => {
      const { host, storage, untouched: before } = await openHost(30);
      expect(await settings(host)).toEqual(before);
      const once = (key: string) => ({ once: onceKey({ key }) });
      await storage.store(OutboxStore).commit([aSend(1)], decide);
      await storage.store(OutboxStore).commit([aSend(2, once('k2'))], decide);
      expect(await settings(host)).toEqual(before);
      await expect(
        storage.store(OutboxStore).commit([aSend(3, once('k3')), aSend(3, once('k4'))], decide),
      ).rejects.toThrow();
      expect(await settings(host)).toEqual(before);
      await storage.store(LedgerStore).entries(ACCOUNT, { limit: 10, after: undefined });
      expect(await settings(host)).toEqual(before);
    });

    test('does not reach the host’s migrations after ours in the same transaction', async () => {
      const { url } = await openDatabase();
      const host = await openDataSource(url, { max: 2, statement_timeout: 20_000 });
      const [first] = messagingMigrations;
      await host.transaction(async (manager) => {
        const before = await settings(manager);
        if (first && manager.queryRunner) await new first().up(manager.queryRunner);
        expect(await settings(manager)).toEqual(before);
      });
      expect(await host.query("SELECT to_regclass('messaging_account') IS NOT NULL AS made")).toEqual([{ made: true }]);
    });
  });

  test('a stricter default isolation stops no instance from starting, and refuses no send', async () => {
    const { url, client } = await openDatabase();
    const [{ name }] = (await client.query('SELECT current_database() AS name')).rows;
    await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'repeatable read'`);
    const storage = new TypeormStorage({ database: url });
    const storages = [storage, ...[1, 2, 3].map(() => new TypeormStorage({ database: url }))];
    await Promise.all(storages.map(start));
    await fund(storage, 1000);
    const outcomes = await Promise.all(
      Array.from({ length: 80 }, (_, index) =>
        storages[index % 4]?.store(OutboxStore).commit([aSend(index, { once: onceKey({ key: `k${index}` }) })], decide),
      ),
    );
    expect(new Set(outcomes.flatMap((each) => each?.map(({ kind }) => kind)))).toEqual(new Set(['accepted']));
    expect([await storage.store(LedgerStore).balance(ACCOUNT), await storage.store(LedgerStore).check()]).toEqual([
      920,
      [],
    ]);
  });

  test('a connection keeps few plans, however many large sends a commit takes', async () => {
    const { url } = await openDatabase();
    const host = await openDataSource(url, { pipeline: true, max: 1 });
    const storage = await start(new TypeormStorage({ database: host }));
    await fund(storage, 1_000_000);
    let id = 0;
    for (let large = 1; large <= 40; large++) {
      const sends = Array.from({ length: large }, () => aSend(++id, { recipients: recipients(60) }));
      const outcomes = await storage.store(OutboxStore).commit(sends, decide);
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
    }
    const [{ kept }] = await host.query(
      "SELECT count(*) AS kept FROM pg_prepared_statements WHERE statement LIKE 'WITH %'",
    );
    expect(Number(kept)).toBeGreaterThan(0);
    expect(Number(kept)).toBeLessThan(10);
    expect(await storage.store(LedgerStore).check()).toEqual([]);
  });

  test('a migration may take any time, although other statements have a limit', async () => {
    const { url, client } = await openDatabase();
    const hurried = await openDataSource(url, { statement_timeout: 200, query_timeout: 300, pipeline: true });
    // The lock that every migration waits for, held as long as another instance would need for a large table.
    await client.query('SELECT pg_advisory_lock(7305808869231650)');
    const starting = start(new TypeormStorage({ database: hurried }));
    let over = false;
    starting.then(
      () => (over = true),
      () => (over = true),
    );
    await eventually(
      async () =>
        (
          await client.query(`SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database()
            AND query = 'SELECT pg_sleep(0.2)' AND clock_timestamp() - backend_start > interval '900 ms'`)
        ).rows,
      ([row]) => over || Number(row?.waiting) > 0,
    );
    await client.query('SELECT pg_advisory_unlock(7305808869231650)');
    await expect((await starting).store(PhoneStore).latest(1)).resolves.toEqual([]);
  });
});
