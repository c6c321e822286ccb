import { expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { checkBooks } from '../../../src/billing/ledger-check.js';
import type { LedgerProgress } from '../../../src/billing/ledger-entry.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { MessagingError } from '../../../src/common/errors.js';
import { SECOND_MS } from '../../../src/common/time.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { Database, Work } from '../../../src/storage/engine/database.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import type { Operation } from '../../../src/storage/engine/operation.js';
import { ACCOUNT, aSend, messageId, range, recipients, START } from '../../contract/storage/fixtures.js';

/** Enough for several chunks of each part. */
const MESSAGES = 2500;

/** The maximum number of rows that a statement of the check may return, so that it delays nobody. */
const MAX_ROWS = 5000;

/** Records how many rows each statement returns. */
function noting(db: Database, counts: number[]): Database {
  function* noted<T>(work: Work<T>): Operation<T> {
    const operation = work();
    let step = operation.next();
    while (!step.done) {
      const result = yield step.value;
      counts.push(result.rows.length);
      step = operation.next(result);
    }
    return step.value;
  }
  const browse = <T>(work: Work<T>) => db.browse(() => noted(work), undefined);
  return Object.create(db, { browse: { value: browse } });
}

/** A storage with one message of 3000 recipients and many messages of one. Message 0 has failed and is refunded. */
async function withBooks(dataSource: DataSource) {
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(AccountStore).createAccount({ id: 'acc2', name: 'B', createdAt: START });
  await storage
    .store(LedgerStore)
    .post({ id: 'op:funds', accountId: ACCOUNT, kind: 'topup', units: 100_000, at: START });
  let next = 0;
  const sendSome = async (count: number) => {
    const sends = range(count).map(() => aSend(next++, { at: START + next }));
    await storage.store(OutboxStore).commit(sends, decide);
    return sends.map(({ id }) => id);
  };
  const fail = async (id: string) => {
    await storage.store(OutboxStore).settle([{ messageId: id, position: 0, status: 'failed', at: START + SECOND_MS }]);
  };
  return { storage, sendSome, fail };
}

/**
 * Tests of the check of a large ledger. @param open a DataSource on an empty database of its own, closed after the test
 */
export function ledgerCheckRules(open: () => Promise<DataSource>): void {
  test('a large ledger is checked in chunks, and a stopped check continues where it was', async () => {
    const dataSource = await open();
    const { storage, sendSome, fail } = await withBooks(dataSource);
    for (const _ of range(MESSAGES / 250)) await sendSome(250);
    await storage.store(OutboxStore).commit([aSend(MESSAGES + 1, { recipients: recipients(3000) })], decide);
    await claimAll(storage);
    await fail(messageId(0));
    const db = await databaseFor(dataSource);
    const counts: number[] = [];
    const reported: LedgerProgress[] = [];
    const onProgress = (progress: LedgerProgress) => reported.push(progress);
    expect(await checkBooks(noting(db, counts), { onProgress })).toEqual([]);
    expect(Math.max(...counts)).toBeLessThanOrEqual(MAX_ROWS);
    const last = new Map(reported.map(({ part, checked }) => [part, checked]));
    expect(Object.fromEntries(last)).toEqual({
      accounts: 2,
      entries: 1 + MESSAGES + 2,
      messages: MESSAGES + 1,
      recipients: MESSAGES + 3000,
    });
    expect(reported.length).toBeGreaterThan(10);

    await dataSource.query("UPDATE messaging_account SET balance = balance + 5 WHERE id = 'acc2'");
    await dataSource.query(`UPDATE messaging_ledger SET units = 0 WHERE id = '${messageId(1)}'`);
    await dataSource.query(`UPDATE messaging_account SET balance = balance + 1 WHERE id = '${ACCOUNT}'`);
    await dataSource.query('UPDATE messaging_recipient SET units = -1 WHERE position = 2999');
    const all = await storage.store(LedgerStore).check();
    expect(all.map((sentence) => sentence.slice(0, 20))).toEqual([
      'Account acc2: the ba',
      `Charge ${messageId(1)}: 0`.slice(0, 20),
      `Message ${messageId(MESSAGES + 1)}: i`.slice(0, 20),
      `Message ${messageId(MESSAGES + 1)}: r`.slice(0, 20),
    ]);
    const found = await Promise.all(reported.map(({ next }) => storage.store(LedgerStore).check({ after: next })));
    // From each place, everything after it, with the faults in the order in which the check finds them.
    for (const [index, faults] of found.entries()) {
      expect(faults).toEqual(all.slice(all.length - faults.length));
      const before = found[index - 1] ?? all;
      expect(before.length - faults.length).toBeGreaterThanOrEqual(0);
      expect(before.length - faults.length).toBeLessThanOrEqual(1);
    }
    expect(found.at(-1)).toEqual([]);
    await storage.stop();
  });

  test.each(['', 'messages', 'elsewhere:1', 'recipients:x:y'])(
    'cannot continue from the place %j, which does not exist',
    async (after) => {
      const { storage } = await withBooks(await open());
      await expect(storage.store(LedgerStore).check({ after })).rejects.toThrow(
        new MessagingError('error.invalid_cursor'),
      );
      await storage.stop();
    },
  );

  test('sends and refunds during the check are not faults', async () => {
    const { storage, sendSome, fail } = await withBooks(await open());
    for (const _ of range(20)) await sendSome(250);
    let over = false;
    const traffic = (async () => {
      while (!over) {
        const ids = await sendSome(20);
        await claimAll(storage);
        await Promise.all(ids.map(fail));
      }
    })();
    const found: string[] = [];
    for (const _ of range(10)) found.push(...(await storage.store(LedgerStore).check()));
    over = true;
    await traffic;
    expect(found).toEqual([]);
    expect(await storage.store(LedgerStore).check()).toEqual([]);
    await storage.stop();
  });
}

async function claimAll(storage: TypeormStorage): Promise<void> {
  const order = {
    channel: 'sms',
    limit: 500,
    now: START + SECOND_MS,
    leaseUntil: START + 60 * SECOND_MS,
    abandoned: false,
  };
  while ((await storage.store(OutboxStore).claim(order)).length > 0);
}
