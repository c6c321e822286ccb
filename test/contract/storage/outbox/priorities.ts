import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { ClaimOrder, Delivery } from '../../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import type { Priority } from '../../../../src/outbox/queue/priority.api.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';

const SHARING = ['high', 'normal', 'bulk'] as const;

/** How many deliveries there are of each value, in the order in which these come first. */
function counts<T extends string>(
  claimed: readonly Delivery[],
  of: (delivery: Delivery) => T,
): Partial<Record<T, number>> {
  const found: Partial<Record<T, number>> = {};
  for (const delivery of claimed) found[of(delivery)] = (found[of(delivery)] ?? 0) + 1;
  return found;
}

const priorityOf = ({ priority }: Delivery): Priority => priority;
const accountOf = ({ accountId }: Delivery): string => accountId;

/** The deliveries that a claim takes, as priorities and accounts. */
export function priorityTests({ test }: TestRunner, world: StorageFixture): void {
  let messages = 0;
  /** Accepts one message of `count` recipients. */
  const queue = async (count: number, accountId: string, priority: Priority = 'normal', at = START) => {
    await world.accept(aSend(++messages, { accountId, priority, at, recipients: recipients(count) }));
  };
  const fund = async (...accounts: readonly string[]) => {
    for (const id of accounts) await world.fund(10_000, id);
  };
  /** Claims batch after batch until nothing is due. */
  const drain = async (limit: number, over: Partial<ClaimOrder> = {}) => {
    const batches: (readonly Delivery[])[] = [];
    for (;;) {
      const batch = await world.claim({ limit, ...over });
      if (batch.length === 0) return batches;
      batches.push(batch);
    }
  };

  test('codes precede everything, however overdue it is, and a batch is in the order of priorities', async () => {
    await fund(ACCOUNT);
    for (const [index, priority] of (['bulk', 'normal', 'high', 'code'] as const).entries()) {
      await queue(4, ACCOUNT, priority, START + index);
    }
    const claim = (limit: number) => world.claim({ limit, now: START + SECOND_MS });
    assert.deepEqual((await claim(3)).map(priorityOf), ['code', 'code', 'code']);
    assert.deepEqual((await claim(5)).map(priorityOf), ['code', 'high', 'high', 'normal', 'bulk']);
    assert.deepEqual(counts(await claim(100), priorityOf), { high: 2, normal: 3, bulk: 3 });
  });

  test('a claim for codes takes nothing else, and leaves the shares of the others unchanged', async () => {
    await fund(ACCOUNT);
    for (const priority of ['code', ...SHARING] as const) await queue(4, ACCOUNT, priority);
    const codes = () => world.claim({ limit: 3, only: 'code' });
    assert.deepEqual(
      [...(await codes()), ...(await codes()), ...(await codes())].map(priorityOf),
      range(4).map(() => 'code'),
    );
    assert.deepEqual(counts(await world.claim({ limit: 7 }), priorityOf), { high: 4, normal: 2, bulk: 1 });
  });

  test('high, normal and bulk share a batch 8 : 4 : 2', async () => {
    await fund(ACCOUNT);
    for (const priority of SHARING) await queue(400, ACCOUNT, priority);
    assert.deepEqual(counts(await world.claim({ limit: 140 }), priorityOf), { high: 80, normal: 40, bulk: 20 });
    assert.deepEqual(counts(await world.claim({ limit: 280 }), priorityOf), { high: 160, normal: 80, bulk: 40 });
  });

  test('a share that one priority does not need goes to the others', async () => {
    await fund(ACCOUNT);
    await queue(10, ACCOUNT, 'high');
    await queue(400, ACCOUNT, 'normal');
    await queue(400, ACCOUNT, 'bulk');
    assert.deepEqual(counts(await world.claim({ limit: 100 }), priorityOf), { high: 10, normal: 60, bulk: 30 });
    assert.deepEqual(counts(await world.claim({ limit: 90 }), priorityOf), { normal: 60, bulk: 30 });
  });

  test('batches of one keep the shares too, and nothing starves', async () => {
    await fund(ACCOUNT);
    for (const priority of SHARING) await queue(60, ACCOUNT, priority);
    const order: Delivery[] = [];
    for (const _ of range(28)) order.push(...(await world.claim({ limit: 1 })));
    assert.deepEqual(counts(order, priorityOf), { high: 16, normal: 8, bulk: 4 });
    assert.deepEqual(counts(order.slice(0, 14), priorityOf), { high: 8, normal: 4, bulk: 2 });
    await queue(1, ACCOUNT, 'code');
    assert.deepEqual((await world.claim({ limit: 1 })).map(priorityOf), ['code']);
  });

  test('a priority that had nothing waiting has saved up no share', async () => {
    await fund(ACCOUNT);
    await queue(60, ACCOUNT, 'bulk');
    for (const _ of range(30)) await world.claim({ limit: 1 });
    await queue(60, ACCOUNT, 'normal');
    const order: Delivery[] = [];
    for (const _ of range(12)) order.push(...(await world.claim({ limit: 1 })));
    assert.deepEqual(counts(order, priorityOf), { normal: 8, bulk: 4 });
  });

  test('a delivery keeps its priority if it is tried again', async () => {
    await fund(ACCOUNT);
    await queue(1, ACCOUNT, 'bulk');
    const [first] = await world.claim();
    assert.ok(first);
    await world.settle(first.messageId, 'queued', { attempt: 1, dueAt: START });
    await queue(1, ACCOUNT, 'code', START + SECOND_MS);
    assert.deepEqual((await world.claim({ now: START + SECOND_MS, limit: 1 })).map(priorityOf), ['code']);
    assert.deepEqual((await world.claim({ now: START + SECOND_MS })).map(priorityOf), ['bulk']);
  });

  test('accounts share a batch equally, whichever came first and however much each has', async () => {
    await fund('a', 'b', 'c');
    await queue(500, 'a', 'normal', START - SECOND_MS);
    await queue(40, 'b');
    await queue(400, 'c');
    assert.deepEqual(counts(await world.claim({ limit: 90 }), accountOf), { a: 30, b: 30, c: 30 });
    const second = counts(await world.claim({ limit: 90 }), accountOf);
    assert.deepEqual(second, { a: 40, b: 10, c: 40 });
  });

  test('a batch is full while anything is due, however it is spread over accounts', async () => {
    const accounts = range(30).map((index) => `account-${index}`);
    await fund(...accounts);
    for (const [index, account] of accounts.entries()) await queue(index + 1, account);
    const total = (30 * 31) / 2;
    const batches = await drain(50);
    assert.deepEqual(
      batches.map(({ length }) => length),
      [...range(9).map(() => 50), total - 450],
    );
    assert.equal(new Set(places(batches.flat())).size, total);
  });

  for (const limit of [1, 3, 7]) {
    test(`accounts take turns over batches of ${limit}`, async () => {
      const accounts = ['a', 'b', 'c', 'd', 'e'];
      await fund(...accounts);
      for (const account of accounts) await queue(40, account);
      const taken: Delivery[] = [];
      while (taken.length < 105) taken.push(...(await world.claim({ limit })));
      assert.deepEqual(counts(taken, accountOf), { a: 21, b: 21, c: 21, d: 21, e: 21 });
    });
  }

  test('if there are more accounts than places, all of them take turns', async () => {
    const accounts = range(150).map((index) => `account-${String(index).padStart(3, '0')}`);
    for (const account of accounts) await fund(account);
    for (const account of accounts) await queue(4, account);
    for (const _ of range(2)) {
      const taken: Delivery[] = [];
      while (taken.length < 150) taken.push(...(await world.claim({ limit: 10 })));
      assert.equal(new Set(taken.map(accountOf)).size, 150);
    }
  });

  test('an account whose deliveries wait for another attempt takes nothing from the others', async () => {
    await fund('a', 'b');
    await queue(50, 'a');
    await queue(50, 'b');
    const held = await world.claim({ limit: 100 });
    const later = { status: 'queued', attempt: 1, dueAt: START + LEASE, at: START } as const;
    await world.outbox.settle(held.filter(({ accountId }) => accountId === 'a').map((each) => ({ ...each, ...later })));
    await queue(20, 'b');
    assert.deepEqual(counts(await world.claim({ limit: 10 }), accountOf), { b: 10 });
    assert.equal(await world.outbox.nextDue('sms'), START);
    assert.deepEqual(counts(await world.claim({ now: START + LEASE }), accountOf), { a: 50, b: 10 });
  });

  test('ids of accounts are compared exactly, in any script', async () => {
    const accounts = ['a', 'A', 'a ', 'é', 'アカウント', '\u{1f600}', '0', 'zz', '-'];
    await fund(...accounts);
    for (const account of accounts) await queue(6, account);
    for (const _ of range(3)) {
      const taken = await world.claim({ limit: 18 });
      assert.deepEqual(counts(taken, accountOf), Object.fromEntries(accounts.map((account) => [account, 2])));
    }
    assert.deepEqual(await world.claim(), []);
  });

  test('an abandoned delivery is taken with the others, in its priority', async () => {
    await fund('a', 'b');
    await queue(10, 'a', 'bulk');
    await world.claim();
    const now = START + LEASE + 1;
    await queue(10, 'b', 'bulk', now);
    await queue(2, 'b', 'code', now);
    const order = { now, abandoned: true };
    assert.deepEqual((await world.claim({ ...order, limit: 2 })).map(priorityOf), ['code', 'code']);
    const taken = await world.claim({ ...order, limit: 10 });
    assert.deepEqual(counts(taken, accountOf), { a: 5, b: 5 });
    assert.equal((await world.claim({ ...order, limit: 100 })).length, 10);
  });

  test('a delivery that another storage accepts late, with an earlier time, is found half a minute later at the latest (another)', async () => {
    const other = (await world.harness.another?.())?.store(OutboxStore) ?? world.outbox;
    await fund('a', 'b');
    const now = START + 60 * SECOND_MS;
    await queue(5, 'a', 'normal', now);
    await world.claim({ now });
    await world.claim({ now });
    const late = (accountId: string, priority: Priority) =>
      other.commit([aSend(++messages, { accountId, priority, at: START })], decide);
    await late('a', 'normal');
    await late('a', 'code');
    await late('b', 'bulk');
    const found: Delivery[] = [];
    for (const second of range(31)) {
      const at = now + second * SECOND_MS;
      // It is not forgotten although the others are busy.
      await queue(1, 'a', 'high', at);
      found.push(...(await world.claim({ now: at, leaseUntil: at + 100 * LEASE })));
    }
    assert.deepEqual(counts(found, priorityOf), { high: 31, code: 1, normal: 1, bulk: 1 });
  });

  test('a lane takes the highest priority first, then the first accepted; a delivery in flight keeps its place', async () => {
    await fund(ACCOUNT);
    const priorities = ['bulk', 'normal', 'high', 'normal', 'code', 'bulk', 'high'] as const;
    const inLane = (index: number, priority: Priority) =>
      world.accept(aSend(index, { channel: 'wa', lane: 'a', priority, at: START + index }));
    const take = (now = START + SECOND_MS) => world.claim({ channel: 'wa', lanes: ['a'], now });
    await inLane(0, 'bulk');
    assert.deepEqual(places(await take()), [`${messageId(0)}/0`]);
    for (const [index, priority] of priorities.entries()) await inLane(index + 1, priority);
    assert.deepEqual(await take(), []);
    await world.settle(messageId(0), 'queued', { attempt: 1, dueAt: START + 9 * SECOND_MS });
    assert.deepEqual(await take(START + 8 * SECOND_MS), []);
    for (const index of [0, 5, 3, 7, 2, 4, 1, 6]) {
      const [head] = await take(START + 9 * SECOND_MS);
      assert.ok(head);
      assert.equal(head.messageId, messageId(index));
      await world.settle(head.messageId, 'sent', { attempt: head.attempt });
    }
  });

  test('if the limit is less than the number of lanes, the highest priority is taken first', async () => {
    await fund(ACCOUNT);
    const lanes = ['a', 'b', 'c'];
    for (const [index, priority] of (['bulk', 'code', 'normal'] as const).entries()) {
      await world.accept(aSend(index, { channel: 'wa', lane: lanes[index] ?? '', priority, at: START + index }));
    }
    const order = { channel: 'wa', lanes, now: START + SECOND_MS, limit: 1 };
    const taken: Delivery[] = [];
    for (const _ of lanes) taken.push(...(await world.claim(order)));
    assert.deepEqual(taken.map(priorityOf), ['code', 'normal', 'bulk']);
  });

  test('a large send is queued with its priority and its account', async () => {
    await fund('a', 'b');
    await queue(500, 'a', 'bulk');
    await queue(500, 'b', 'bulk');
    await queue(1, 'b');
    assert.deepEqual(counts(await world.claim({ limit: 101 }), accountOf), { b: 51, a: 50 });
  });
}
