import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import type { LedgerPosting } from '../../../../src/billing/ledger-entry.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import { ACCOUNT, range, START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { WatchedDatabase } from '../../../support/databases/watched-database.js';

const opened = closeAfterEach();

async function start() {
  const database = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => database.destroy() });
  const storage = new TypeormStorage({ database });
  await storage.start();
  for (const id of [ACCOUNT, 'acc2'])
    await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
  const db = new WatchedDatabase(await databaseFor(database));
  const ledger = new LedgerStore(db);
  const post = (index: number, units: number, over: Partial<LedgerPosting> = {}) =>
    ledger.post({ id: `p${index}`, accountId: ACCOUNT, kind: 'adjust', units, at: START + index, ...over });
  return { ledger, db, post };
}

test('waiting postings of an account are committed together, each with an answer of its own, in their order', async () => {
  const { ledger, db, post } = await start();
  const answers = await Promise.all([
    post(1, 5),
    post(2, -6),
    post(1, 5),
    post(1, 6),
    post(3, -5),
    post(4, 1, { accountId: 'acc2' }),
    post(5, 1, { accountId: 'nobody' }),
  ]);
  expect(answers).toEqual(['posted', 'refused', 'repeated', 'taken', 'posted', 'posted', 'unknown']);
  expect(db.writes).toBe(3);
  expect([await ledger.balance(ACCOUNT), await ledger.balance('acc2')]).toEqual([0, 1]);
  expect(await ledger.check()).toEqual([]);
});

test('a crowd of postings takes a few transactions', async () => {
  const { ledger, db, post } = await start();
  const answers = await Promise.all(range(300).map((index) => post(index, 1)));
  expect(new Set(answers)).toEqual(new Set(['posted']));
  expect(db.writes).toBeLessThanOrEqual(3);
  expect(await ledger.balance(ACCOUNT)).toBe(300);
});

test('a posting that cannot be stored fails alone', async () => {
  const { ledger, post } = await start();
  const bad: object = { note: { toString: 'no text' } };
  const results = await Promise.allSettled([post(1, 1), post(2, 1, bad), post(3, 1)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([await ledger.balance(ACCOUNT), await ledger.check()]).toEqual([2, []]);
});
