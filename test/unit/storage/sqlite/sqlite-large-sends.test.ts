import { statSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type Database from 'better-sqlite3';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { dataSourceFor } from '../../../../src/storage/engine/data-source.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';

const opened = closeAfterEach();

/** The maximum number of rows that one turn of the event loop may write: the recipients of one statement, and a few rows more. */
const MAX_WRITTEN = 10_010;

const COUNT = 25_000;
const OTHER = 'acc2';

describe('a send to many recipients on an SQLite file of our own', () => {
  let file: SqliteFile;
  let connection: Database.Database;
  let outbox: OutboxStore;
  let ledger: LedgerStore;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    file = opened(new SqliteFile());
    const storage = file.storage().useValue;
    await storage.start();
    for (const id of [ACCOUNT, OTHER]) {
      await storage.store(AccountStore).createAccount({ id, name: id, createdAt: START });
      await storage
        .store(LedgerStore)
        .post({ id: `funds of ${id}`, accountId: id, kind: 'topup', units: 100_000, at: START });
    }
    await storage.stop();
    const dataSource = await dataSourceFor(`sqlite:${file.path}`);
    await dataSource.initialize();
    connection = await dataSource.createQueryRunner().connect();
    const db = await databaseFor(dataSource, undefined, true);
    outbox = new OutboxStore(db);
    ledger = new LedgerStore(db);
    stop = async () => {
      await db.stop();
      if (dataSource.isInitialized) await dataSource.destroy();
    };
    opened({ close: stop });
  });

  const largeSend = (over = {}) => aSend(1, { recipients: recipients(COUNT), ...over });

  /** The maximum number of rows that were written in one turn while `work` was under way, and the number of turns. */
  async function written(work: Promise<unknown>): Promise<{ readonly most: number; readonly turns: number }> {
    let under = true;
    const end = work.finally(() => {
      under = false;
    });
    const total = connection.prepare('SELECT total_changes()').pluck();
    const counted = () => Number(total.get());
    const perTurn: number[] = [];
    for (let before = counted(); under; before = counted()) {
      await new Promise(setImmediate);
      perTurn.push(counted() - before);
    }
    await end;
    return { most: Math.max(...perTurn), turns: perTurn.filter((rows) => rows > 0).length };
  }

  test.each([
    ['none is', {}, 0],
    ['one is', { refused: 'opted_out' }, 1],
  ])('writes a slice in each turn if %s refused, and all of it', async (_count, refused, count) => {
    const [first, ...others] = recipients(COUNT);
    if (!first) throw new Error('There are no recipients.');
    const shuffled = others.map((_, index) => others[(index * 7919) % others.length] ?? first);
    const send = largeSend({ recipients: [{ ...first, ...refused }, ...shuffled] });
    const { most, turns } = await written(outbox.commit([send], decide));
    expect(most).toBeLessThanOrEqual(MAX_WRITTEN);
    expect(turns).toBeGreaterThanOrEqual((2 * COUNT) / MAX_WRITTEN);
    const numbers = send.recipients.map(({ number }) => number).join(' ');
    for (const table of ['messaging_recipient', 'messaging_sent_to']) {
      const stored = connection.prepare(`SELECT number FROM ${table} ORDER BY position`).pluck().all();
      expect(stored.join(' ') === numbers).toBe(true);
    }
    const failed = connection.prepare("SELECT count(*) FROM messaging_recipient WHERE status = 'failed'").pluck();
    expect(failed.get()).toBe(count);
  });

  test('is due in the order of its recipients, like a send that one statement writes', async () => {
    await outbox.commit([largeSend()], decide);
    const due = connection.prepare('SELECT due_at FROM messaging_recipient ORDER BY position').pluck().all();
    expect(due).toEqual(
      range(COUNT).map((position) => START - Math.floor((COUNT - 1) / 500) + Math.floor(position / 500)),
    );
  });

  test('lets other reads go on, which see nothing of it, and other sends follow it', async () => {
    const order: string[] = [];
    const logged = (name: string) => () => void order.push(name);
    const sent = outbox.commit([largeSend()], decide).then(logged('sent'));
    // Until the transaction is open.
    for (let turn = 0; !connection.inTransaction && turn < 100; turn++) await new Promise(setImmediate);
    const other = outbox
      .commit([aSend(2, { accountId: OTHER, recipients: [{ number: phone(1), units: 1 }] })], decide)
      .then(logged('other sent'));
    const [balances, found] = await Promise.all([
      Promise.all([ACCOUNT, OTHER].map((id) => ledger.balance(id))),
      outbox.find(ACCOUNT, 'sms', messageId(1)),
    ]);
    logged('read')();
    await Promise.all([sent, other]);
    expect(balances).toEqual([100_000, 100_000]);
    expect(found).toBeUndefined();
    expect(order).toEqual(['read', 'sent', 'other sent']);
    expect(await Promise.all([ACCOUNT, OTHER].map((id) => ledger.balance(id)))).toEqual([100_000 - COUNT, 99_999]);
  });

  test('that fails in its last statement leaves nothing, and fails no other write', async () => {
    connection.exec(`CREATE TRIGGER late BEFORE INSERT ON messaging_sent_to WHEN NEW.position = ${COUNT - 1}
      BEGIN SELECT RAISE(ABORT, 'no'); END`);
    const sent = outbox.commit([largeSend()], decide);
    for (let turn = 0; !connection.inTransaction && turn < 100; turn++) await new Promise(setImmediate);
    const posted = ledger.post({ id: 'more', accountId: OTHER, kind: 'topup', units: 5, at: START });
    await expect(sent).rejects.toThrow();
    await posted;
    expect(connection.inTransaction).toBe(false);
    expect(await outbox.find(ACCOUNT, 'sms', messageId(1))).toBeUndefined();
    expect(connection.prepare('SELECT count(*) FROM messaging_recipient').pluck().get()).toBe(0);
    expect(await Promise.all([ACCOUNT, OTHER].map((id) => ledger.balance(id)))).toEqual([100_000, 100_005]);
  });

  test('leaves its pages in the WAL until the waiting writes are done, and then commits move pages again', async () => {
    const sent = outbox.commit([largeSend()], decide);
    for (let turn = 0; !connection.inTransaction && turn < 100; turn++) await new Promise(setImmediate);
    const other = outbox.commit([aSend(2, { accountId: OTHER })], decide);
    const size = () => statSync(file.path).size;
    const before = size();
    await Promise.all([sent, other]);
    expect(size()).toBe(before);
    for (let turn = 0; size() === before && turn < 100; turn++) await new Promise(setImmediate);
    expect(size()).toBeGreaterThan(before);
    await new Promise(setImmediate);
    expect(connection.pragma('wal_autocheckpoint', { simple: true })).toBe(4000);
  });

  test('is finished before the storage stops', async () => {
    const sent = outbox.commit([largeSend()], decide);
    for (let turn = 0; !connection.inTransaction && turn < 100; turn++) await new Promise(setImmediate);
    await stop();
    await expect(sent).resolves.toEqual([expect.objectContaining({ kind: 'accepted' })]);
    const [stored] = file.handle().prepare('SELECT count(*) FROM messaging_recipient').pluck().all();
    expect(stored).toBe(COUNT);
  });

  test('waits for another process that holds the file', async () => {
    const holder = file.handle();
    holder.exec('BEGIN IMMEDIATE');
    const sent = outbox.commit([largeSend()], decide);
    await ledger.balance(OTHER);
    expect(connection.inTransaction).toBe(false);
    holder.exec('COMMIT');
    await expect(sent).resolves.toEqual([expect.objectContaining({ kind: 'accepted' })]);
  });
});

test('a send to many recipients on a host’s connection takes one turn, because the host may write on it at any time', async () => {
  const file = opened(new SqliteFile());
  const storage = file.storage().useValue;
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: ACCOUNT, name: 'A', createdAt: START });
  await storage.store(LedgerStore).post({ id: 'funds', accountId: ACCOUNT, kind: 'topup', units: 100_000, at: START });
  await storage.stop();
  const dataSource = await file.dataSource();
  const connection: Database.Database = await dataSource.createQueryRunner().connect();
  const outbox = new OutboxStore(await databaseFor(dataSource));
  let wasOpen = false;
  let under = true;
  const sent = outbox.commit([aSend(1, { recipients: recipients(COUNT) })], decide).finally(() => {
    under = false;
  });
  while (under) {
    wasOpen ||= connection.inTransaction;
    await new Promise(setImmediate);
  }
  await sent;
  expect(wasOpen).toBe(false);
});
