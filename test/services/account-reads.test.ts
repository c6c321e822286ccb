import { describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../src/storage/typeorm/typeorm-storage.js';
import { FEW, fillAccounts, readsOf } from '../support/account-reads.js';
import { eventually } from '../support/eventually.js';
import { createMariadbDatabase } from '../support/mariadb.js';
import { closeAfterEach } from '../support/opened.js';
import { createPostgresDatabase } from '../support/postgres.js';
import { hasServer } from '../support/servers.js';

const onPostgres = (await hasServer('PostgreSQL', 5432)) ? describe : describe.skip;
const onMariadb = (await hasServer('MariaDB', 3306)) ? describe : describe.skip;

const opened = closeAfterEach();

/** A storage on its own data source. */
async function openStorage(source: DataSource): Promise<TypeormStorage> {
  const storage = new TypeormStorage({ database: source });
  await storage.start();
  opened({
    close: async () => {
      await storage.stop();
      await source.destroy();
    },
  });
  return storage;
}

async function expectFewReads(storage: TypeormStorage, read: (work: () => Promise<unknown>) => Promise<number>) {
  for (const [name, work] of Object.entries(readsOf(storage))) {
    const rows = await read(work);
    expect([name, rows < FEW || rows]).toEqual([name, true]);
  }
}

onPostgres('on PostgreSQL', () => {
  test('what the people of an account look at is found by indexes', async () => {
    const database = await createPostgresDatabase();
    opened({ close: () => database.drop() });
    // A connection that ends tells the server what it has counted.
    const extra = { max: 1, idleTimeoutMillis: 1 };
    const source = await new DataSource({ type: 'postgres', url: database.url, extra }).initialize();
    const storage = await openStorage(source);
    await fillAccounts(storage, source);
    const observer = new Client({ connectionString: database.url });
    await observer.connect();
    opened({ close: () => observer.end() });
    const others = async () => {
      const { rows } = await observer.query(`SELECT count(*)::int AS many FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`);
      return Number(rows[0]?.many);
    };
    const readRows = async () => {
      await eventually(others, (many) => many === 0);
      const { rows } = await observer.query(`SELECT sum(seq_tup_read + coalesce(
          (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)) AS read
        FROM pg_stat_user_tables t WHERE relname IN ('messaging_ledger', 'messaging_message', 'messaging_recipient', 'messaging_audit')`);
      return Number(rows[0]?.read);
    };
    for (const known of [false, true]) {
      if (known) await observer.query('ANALYZE');
      await expectFewReads(storage, async (work) => {
        const before = await readRows();
        await work();
        return (await readRows()) - before;
      });
    }
  });
});

onMariadb('on MariaDB', () => {
  test('what the people of an account look at is found by indexes', async () => {
    const database = await createMariadbDatabase();
    opened({ close: () => database.drop() });
    // One connection, so that its counters are those of the storage.
    const source = await new DataSource({
      ...{ type: 'mysql', url: database.url },
      extra: { connectionLimit: 1 },
    } as const).initialize();
    const storage = await openStorage(source);
    await fillAccounts(storage, source);
    for (const known of [false, true]) {
      if (known)
        await source.query('ANALYZE TABLE messaging_ledger, messaging_message, messaging_recipient, messaging_audit');
      await expectFewReads(storage, async (work) => {
        await source.query('FLUSH STATUS');
        await work();
        const counts: { Value: string }[] = await source.query("SHOW SESSION STATUS LIKE 'Handler_read%'");
        return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
      });
    }
  });
});
