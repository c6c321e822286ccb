import { beforeEach, describe, expect, test } from '@jest/globals';
import { AccountStore } from '../../../../src/accounts/account-store.js';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { StorageUnavailableError } from '../../../../src/common/errors.js';
import { LocalNotifier } from '../../../../src/common/notifier.js';
import { EventRecorder } from '../../../../src/events/event-recorder.js';
import { MessagingEvents } from '../../../../src/events/messaging-events.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { Outbox } from '../../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { changeRecords } from '../../../../src/outbox/policy/policy-records.js';
import { PolicyStore } from '../../../../src/outbox/policy/policy-store.js';
import type { RecordStep } from '../../../../src/outbox/policy/record-step.js';
import type { SeenRecords } from '../../../../src/outbox/policy/send-policy.js';
import { ACCOUNT, aSend, messageId, range, START } from '../../../contract/storage/fixtures.js';
import { aRecord, countIn, counting } from '../../../contract/storage/outbox/records.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { settled } from '../../../support/common/settled.js';
import { until } from '../../../support/common/until.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';
import { HeldRecords } from '../../../support/storage/held-records.js';

const CROWD = 300;
/** Connections that may wait: a quarter of eight. */
const SHARE = 2;

const opened = closeAfterEach();
let database: HeldRecords;
let guards: PolicyStore;
let storage: TypeormStorage;

beforeEach(async () => {
  const file = opened(new SqliteFile());
  const dataSource = await file.dataSource();
  storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  opened({ close: () => storage.stop() });
  database = await HeldRecords.on(dataSource);
  guards = database.store(PolicyStore);
});

/** Adds one to the count of a record, unless it has reached `most`. Returns the previous count. */
function count(store: PolicyStore, key: string, most = Number.POSITIVE_INFINITY, lock?: 'always' | 'to-change') {
  return store.change(
    [key],
    (seen) => {
      const before = countIn(seen, key);
      return { result: before, changes: new Map(before < most ? [[key, aRecord(before + 1)]] : []) };
    },
    lock,
  );
}

/** Each step runs in a transaction of its own, which waits because the step begins with a write. */
class OneByOne extends PolicyStore {
  constructor(private readonly records: HeldRecords) {
    super(records);
  }

  override async change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    const results: T[] = [];
    const run = (seen: SeenRecords) => {
      const { result, changes } = step(seen);
      results.push(result);
      return { changes };
    };
    const { dialect } = this.records;
    const recorder = this.records.store(EventRecorder);
    await recorder.write((publisher) => changeRecords(dialect, [{ keys, lock: 'always', run }], 'wait', publisher));
    return results.at(-1) as T;
  }

  override async purge(): Promise<number> {
    return 0;
  }
}

describe('many steps on one record', () => {
  test(`${CROWD} steps share a transaction, in their order, on one connection`, async () => {
    const counts = await Promise.all(range(CROWD).map(() => count(guards, 'a')));
    expect(counts).toEqual(range(CROWD));
    expect([database.transactions, database.maxOpen]).toEqual([2, 1]);
  });

  test('each have a connection if they come one by one, and all of them wait while it is locked', async () => {
    const release = database.hold('a');
    const naive = range(CROWD).map(() => count(new OneByOne(database), 'a'));
    await until(() => database.waiting === CROWD);
    expect(database.open).toBe(CROWD);
    release();
    await Promise.all(naive);
  });

  test('wait on one connection while it is locked, however many arrive; other records are changed meanwhile', async () => {
    await count(guards, 'a');
    const release = database.hold('a');
    const waiting: Promise<number>[] = [];
    for (const _ of range(10)) {
      waiting.push(...range(CROWD / 10).map(() => count(guards, 'a')));
      await settled(3);
    }
    await until(() => database.waiting === 1);
    expect(await Promise.all(range(50).map((index) => count(guards, `other ${index}`)))).toEqual(
      range(50).map(() => 0),
    );
    expect([database.waiting, database.open, database.maxOpen]).toEqual([1, 1, 2]);
    release();
    expect((await Promise.all(waiting)).sort((a, b) => a - b)).toEqual(range(CROWD).map((index) => index + 1));
  });

  test(`${SHARE} of the locked records are waited for at a time, each of them in turn`, async () => {
    const keys = range(6).map((index) => `held ${index}`);
    const releases = keys.map((key) => database.hold(key));
    const waiting = keys.map((key) => count(guards, key));
    await until(() => database.waiting === SHARE);
    expect(await count(guards, 'free')).toBe(0);
    expect([database.waiting, database.open]).toEqual([SHARE, SHARE]);
    for (const release of releases) release();
    expect(await Promise.all(waiting)).toEqual(keys.map(() => 0));
    expect(database.maxOpen).toBe(SHARE + 1);
  });
});

describe('a step that begins with a read', () => {
  test('and changes nothing is answered from committed data while the record is locked', async () => {
    await count(guards, 'a');
    const release = database.hold('a');
    const dead = await Promise.all(range(CROWD).map(() => count(guards, 'a', 1, 'to-change')));
    expect(new Set(dead)).toEqual(new Set([1]));
    expect(database.waiting).toBe(0);
    const patient = count(guards, 'a', 1);
    await until(() => database.waiting === 1);
    release();
    expect(await patient).toBe(1);
  });

  test('and would change something waits, and decides on the data that is there then', async () => {
    await count(guards, 'a');
    const release = database.hold('a');
    const both = [count(guards, 'a', 2, 'to-change'), count(guards, 'a', 2, 'to-change')];
    await until(() => database.waiting === 1);
    release();
    expect(await Promise.all(both)).toEqual([1, 2]);
  });

  test('sees what was committed before it was called', async () => {
    await count(guards, 'a');
    const release = database.hold('a');
    expect(await count(guards, 'a', 1, 'to-change')).toBe(1);
    release();
    await guards.change(['a'], () => ({ result: 0, changes: new Map([['a', aRecord(7)]]) }));
    database.hold('a');
    expect(await count(guards, 'a', 1, 'to-change')).toBe(7);
  });

  test('waits for a record whose messages have all failed, because another one may have been added meanwhile', async () => {
    await fund(ACCOUNT);
    await storage.store(OutboxStore).commit([policySend(1, ACCOUNT, 'a')], decide);
    await storage.store(OutboxStore).settle([{ messageId: messageId(1), position: 0, status: 'failed', at: START }]);
    const release = database.hold('a');
    const step = guards.change(['a'], (seen) => ({ result: seen.get('a')?.lost, changes: new Map() }), 'to-change');
    await until(() => database.waiting === 1);
    release();
    expect(await step).toBe(true);
  });
});

test('a step that the database refuses does not fail the others', async () => {
  const broken = guards.change(['b'], () => ({
    result: 0,
    changes: new Map([['b', { ...aRecord(1), expiresAt: Number.NaN }]]),
  }));
  const ends = await Promise.allSettled([count(guards, 'a'), broken, count(guards, 'c')]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

async function fund(...accounts: string[]): Promise<void> {
  for (const id of accounts) {
    await storage.store(AccountStore).createAccount({ id, name: id, createdAt: 0 });
    await storage.store(LedgerStore).post({ id: `funds ${id}`, accountId: id, kind: 'topup', units: 1000, at: 0 });
  }
}

function policySend(index: number, accountId: string, key: string) {
  return aSend(index, { accountId, policy: counting(key, messageId(index), CROWD) });
}

describe('sends whose policy needs a locked record', () => {
  const open = async () => {
    await fund(ACCOUNT, 'b', 'c');
    return new Outbox(new OutboxStore(database), new LocalNotifier(), new MessagingEvents());
  };

  test.each(['new', 'known'])('wait separately, without locking their account: the record is %s', async (record) => {
    const outbox = await open();
    if (record === 'known') await outbox.accept(policySend(1, 'c', 'a'));
    const release = database.hold('a');
    let answered = 0;
    const waiting = range(20).map((index) =>
      outbox.accept(policySend(100 + index, index % 2 === 0 ? ACCOUNT : 'b', 'a')).finally(() => answered++),
    );
    await until(() => database.waiting === 1);
    await Promise.all(
      range(20).map((index) => outbox.accept(aSend(200 + index, { accountId: index % 2 ? 'b' : 'c' }))),
    );
    await Promise.all(range(20).map((index) => outbox.accept(policySend(300 + index, ACCOUNT, `own ${index}`))));
    expect([answered, database.waiting, database.open]).toEqual([0, 1, 1]);
    release();
    expect(new Set((await Promise.all(waiting)).map(({ replayed }) => replayed))).toEqual(new Set([false]));
    const seen = await guards.change(['a'], (all) => ({ result: all, changes: new Map() }));
    expect([countIn(seen, 'a'), await storage.store(LedgerStore).check()]).toEqual([record === 'known' ? 21 : 20, []]);
  });

  test('are refused if they cannot lock it in time, and nothing is charged', async () => {
    await fund(ACCOUNT);
    const store = new OutboxStore(database);
    const impatient: OutboxStore = Object.create(store, {
      whenFree: { value: () => Promise.reject(new StorageUnavailableError('Lock timeout.')) },
    });
    const outbox = new Outbox(impatient, new LocalNotifier(), new MessagingEvents());
    database.hold('a');
    await expect(outbox.accept(policySend(1, ACCOUNT, 'a'))).rejects.toMatchObject({
      code: 'error.storage_unavailable',
    });
    await outbox.accept(aSend(2));
    expect(await storage.store(LedgerStore).balance(ACCOUNT)).toBe(999);
  });

  test('that is locked again whenever it was free are refused after some time, with limited work', async () => {
    await fund(ACCOUNT);
    const store = new OutboxStore(database);
    let waits = 0;
    const unlucky: OutboxStore = Object.create(store, {
      whenFree: {
        value: async () => {
          waits += 1;
        },
      },
    });
    const outbox = new Outbox(unlucky, new LocalNotifier(), new MessagingEvents());
    database.hold('a');
    await expect(outbox.accept(policySend(1, ACCOUNT, 'a'))).rejects.toMatchObject({
      code: 'error.storage_unavailable',
    });
    expect(waits).toBe(50);
  });
});
