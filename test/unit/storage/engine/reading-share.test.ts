import { expect, test } from '@jest/globals';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { DAY_MS, HOUR_MS } from '../../../../src/common/time.js';
import { EventLog } from '../../../../src/events/event-log.js';
import { OverviewStore } from '../../../../src/management/usage/overview-store.js';
import { UsageStore } from '../../../../src/management/usage/usage-store.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { OptOutStore } from '../../../../src/sms/opt-out/opt-out-store.js';
import { Database, type Work } from '../../../../src/storage/engine/database.js';
import { ReadingShare } from '../../../../src/storage/engine/reading-share.js';
import { SqliteDialect } from '../../../../src/storage/sqlite/sqlite-dialect.js';
import { EndpointStore } from '../../../../src/webhooks/endpoints/endpoint-store.js';
import { START } from '../../../contract/storage/fixtures.js';
import { settled } from '../../../support/common/settled.js';

/** A database that holds no rows and answers a listing when the test lets it. It records which listings run. */
class GatedDatabase extends Database {
  override readonly dialect = new SqliteDialect();
  protected override readonly share: ReadingShare;
  /** The accounts of the listings that run, and of all that have begun. */
  readonly reading: string[] = [];
  readonly begun: string[] = [];
  private readonly answers: (() => void)[] = [];

  constructor(limit: number) {
    super();
    this.share = new ReadingShare(limit);
  }

  override browse<T>(work: Work<T>, accountId: string | undefined): Promise<T> {
    return this.share.run(async () => {
      const account = accountId ?? 'nobody';
      this.reading.push(account);
      this.begun.push(account);
      await new Promise<void>((resolve) => this.answers.push(resolve));
      this.reading.splice(this.reading.indexOf(account), 1);
      return this.read(work);
    }, accountId);
  }

  override async read<T>(work: Work<T>): Promise<T> {
    const operation = work();
    let step = operation.next();
    while (!step.done) step = operation.next({ rows: [], affected: 0 });
    return step.value;
  }

  /** Answers the listing that has run the longest. */
  async answer(): Promise<void> {
    this.answers.shift()?.();
    await settled();
  }

  override write<T>(): Promise<T> {
    throw new Error('nothing is written');
  }

  override writeLazily<T>(): Promise<T> {
    throw new Error('nothing is written');
  }

  override whenCommitted(): void {}

  override async stop(): Promise<void> {}
}

function setup(limit: number) {
  const db = new GatedDatabase(limit);
  const store = new OutboxStore(db);
  const list = (accountId: string) => store.list({ accountId, channel: 'sms', kinds: ['text'], limit: 500 });
  return { db, list };
}

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [9, 2],
])(
  'of %d listings at a time, one account may have %d, and another one’s begins at once if there is room',
  async (limit, most) => {
    const { db, list } = setup(limit);
    const all = [...Array(8).fill('a'), 'b'].map(list);
    await settled();
    expect(db.reading).toEqual([...Array(most).fill('a'), ...(limit > 1 ? ['b'] : [])]);
    while (db.reading.length > 0) {
      expect(db.reading.filter((account) => account === 'a').length).toBeLessThanOrEqual(most);
      await db.answer();
    }
    expect(await Promise.all(all)).toHaveLength(9);
  },
);

/** The reads of an account that count as listings, by route. */
const READS: Readonly<Record<string, (db: Database, accountId: string) => Promise<unknown>>> = {
  'GET /usage': (db, accountId) =>
    new UsageStore(db).usage({ accountId, since: START - HOUR_MS, until: START, groupBy: [], now: START }),
  'GET /codes': (db, accountId) => new UsageStore(db).codes(accountId, START - DAY_MS, START),
  'GET /overview, its counts': (db, accountId) =>
    new OverviewStore(db).statuses({ accountId, channels: ['sms'], since: 0, until: START, most: 1 }),
  'GET /overview, what waits': (db, accountId) => new OverviewStore(db).oldestWaiting(accountId, ['sms'], 0),
  'GET /overview, what needs attention': (db, accountId) => new OverviewStore(db).attention(accountId, ['sms'], START),
  'GET /ledger': (db, accountId) => new LedgerStore(db).entries(accountId, { limit: 500 }),
  'GET /keys': (db, accountId) => new AccountStore(db).listKeys(accountId, { limit: 500 }),
  'GET /signatures': (db, accountId) => new AccountStore(db).listSignatures(accountId, { limit: 500 }),
  'GET /optouts': (db, accountId) => new OptOutStore(db).list({ accountId, limit: 500 }),
  'GET /audit': (db, accountId) => new AuditLog(db).list({ accountId, limit: 500 }),
  'GET /webhooks': (db, accountId) => new EndpointStore(db).list(accountId, { limit: 500 }),
  'GET /webhooks/:id/attempts': (db, accountId) =>
    new EndpointStore(db).attempts({ accountId, endpointId: 'e', limit: 500 }),
  'GET /events': (db, accountId) => new EventLog(db).read({ accountId, after: 0, limit: 500 }),
};

test.each(Object.entries(READS))(
  '%s: an account with eight simultaneous requests has two of the reads, and another one’s begins at once',
  async (_route, read) => {
    const db = new GatedDatabase(3);
    const all = [...Array(8).fill('a'), 'b'].map((account) => read(db, account));
    await settled();
    expect(db.reading).toEqual(['a', 'a', 'b']);
    while (db.reading.length > 0) {
      await db.answer();
      expect(db.reading.filter((account) => account !== 'b').length).toBeLessThanOrEqual(2);
    }
    await Promise.all(all);
    expect(new Set(db.begun)).toEqual(new Set(['a', 'b']));
  },
);

test('accounts take turns, however many listings one of them waits for', async () => {
  const { db, list } = setup(1);
  const all = ['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(list);
  await settled();
  for (let count = 0; count < 7; count++) await db.answer();
  await Promise.all(all);
  expect(db.begun).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

test('a listing that fails passes its place on', async () => {
  const share = new ReadingShare(1);
  const failing = share.run(async () => {
    throw new Error('broken');
  }, 'a');
  const next = share.run(async () => 'read', 'a');
  await expect(failing).rejects.toThrow('broken');
  expect(await next).toBe('read');
});

test('reads that belong to no account use all places', async () => {
  const share = new ReadingShare(3);
  let running = 0;
  const ends: (() => void)[] = [];
  const reads = Array.from({ length: 5 }, () =>
    share.run(async () => {
      running++;
      await new Promise<void>((resolve) => ends.push(resolve));
      running--;
    }),
  );
  await settled();
  expect(running).toBe(3);
  while (ends.length > 0) {
    ends.shift()?.();
    await settled();
  }
  await Promise.all(reads);
});
