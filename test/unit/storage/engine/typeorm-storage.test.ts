import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';

test('a host’s DataSource stays the host’s: it is initialised if it is not yet, and left open', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  expect(await storage.store(AccountStore).listAccounts({ limit: 1 })).toEqual({ items: [], next: undefined });
  await storage.stop();
  expect(await dataSource.query('SELECT id FROM messaging_account')).toEqual([]);
  await dataSource.destroy();
});
