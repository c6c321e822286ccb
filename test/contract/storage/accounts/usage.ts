import assert from 'node:assert/strict';
import { DAY_MS, HOUR_MS } from '../../../../src/common/time.js';
import { USAGE_GROUPS } from '../../../../src/management/usage/usage.api.js';
import type { RollUpOrder, UsageQuery, UsageRow } from '../../../../src/management/usage/usage-records.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import { contentRemover } from '../../../../src/outbox/retention/removed-payload.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

/** The start of the day of `START`. */
const TODAY = START - (START % DAY_MS);

/** Numbers of Burkina Faso, Senegal, Canada and of no country. */
const [BF, SN, CA, SATELLITE] = ['22670000000', '221770000000', '15142345678', '881612345678'];

/** Runs rounds until all accounts were looked at. Returns how many hours were written. */
export async function rollUp(
  world: StorageFixture,
  over: Partial<RollUpOrder> = {},
  store = world.usage,
): Promise<number> {
  const now = over.now ?? START + 2 * HOUR_MS;
  const order = {
    now,
    until: now - (now % HOUR_MS),
    verifyFrom: undefined,
    limit: 2,
    signal: new AbortController().signal,
  };
  let hours = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const done = await store.rollUp({ ...order, ...over, after });
    hours += done.hours;
    after = done.next;
  }
  return hours;
}

/** The ledger's sums for an account in a range. */
export async function books(world: StorageFixture, since: number, until: number) {
  let [charged, refunded, sends] = [0, 0, 0];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const { items, next } = await world.ledger.entries(ACCOUNT, { limit: 100, since, until, after });
    for (const { kind, units } of items) {
      if (kind === 'charge') [charged, sends] = [charged - units, sends + 1];
      if (kind === 'refund') refunded += units;
    }
    after = next;
  }
  return { charged, refunded, sends };
}

export function usageTests({ test }: TestRunner, world: StorageFixture): void {
  const query = (over: Partial<UsageQuery> = {}): UsageQuery => ({
    accountId: ACCOUNT,
    since: TODAY - 2 * DAY_MS,
    until: TODAY + DAY_MS,
    groupBy: [],
    now: START + 2 * HOUR_MS,
    ...over,
  });
  const usage = (over: Partial<UsageQuery> = {}) => world.usage.usage(query(over));
  const sorted = (rows: readonly UsageRow[]) => rows.map((row) => JSON.stringify(row)).sort();
  const total = async (over: Partial<UsageQuery> = {}) => {
    const [row] = await usage(over);
    const { charged = 0, refunded = 0, sends = 0 } = row ?? {};
    return { charged, refunded, sends };
  };
  /** An account with sends of every group. */
  const sent = async () => {
    await world.fund(1000);
    const to = (...numbers: string[]): Send['recipients'] => numbers.map((number) => ({ number, units: 2 }));
    await world.accept(
      aSend(1, { recipients: to(BF, SN, '221770000001') }),
      aSend(2, { sender: 'SHOP', recipients: to(CA) }),
      aSend(3, { channel: 'wa', sender: '22670000100', lane: 's1', recipients: to(BF), at: START + HOUR_MS }),
      aSend(4, { payload: { kind: 'otp' }, recipients: to(SATELLITE), at: START - DAY_MS }),
    );
    await world.claim({ now: START + HOUR_MS });
    await world.settle(messageId(1), 'failed', { position: 1, attempt: 1 });
    await world.settle(messageId(2), 'failed', { position: 0, attempt: 1, at: START + HOUR_MS });
  };
  const amounts = (charged: number, refunded: number, sends: number, recipients: number) => {
    return { charged, refunded, sends, recipients };
  };

  test('sends are summed up by every group, before and after they are rolled up', async () => {
    await sent();
    const check = async () => {
      assert.deepEqual(await usage(), [amounts(12, 4, 4, 6)]);
      const by = async (...groupBy: UsageQuery['groupBy']) => sorted(await usage({ groupBy }));
      assert.deepEqual(
        await by('day'),
        sorted([
          { day: TODAY - DAY_MS, ...amounts(2, 0, 1, 1) },
          { day: TODAY, ...amounts(10, 4, 3, 5) },
        ]),
      );
      assert.deepEqual(
        await by('country'),
        sorted([
          { country: 'BF', ...amounts(4, 0, 2, 2) },
          { country: 'SN', ...amounts(4, 2, 0, 2) },
          { country: 'CA', ...amounts(2, 2, 1, 1) },
          { country: 'unknown', ...amounts(2, 0, 1, 1) },
        ]),
      );
      assert.deepEqual(
        await by('signature', 'channel'),
        sorted([
          { signature: 'INFOS', channel: 'sms', ...amounts(8, 2, 2, 4) },
          { signature: 'SHOP', channel: 'sms', ...amounts(2, 2, 1, 1) },
          { signature: '', channel: 'wa', ...amounts(2, 0, 1, 1) },
        ]),
      );
      assert.deepEqual(await by('key'), sorted([{ key: '', ...amounts(12, 4, 4, 6) }]));
      assert.equal((await by(...USAGE_GROUPS)).length, 5);
      // Enough to see that there are more, and not one more if they are read at once.
      for (const most of [1, 3]) assert.ok((await usage({ groupBy: USAGE_GROUPS, most })).length > most);
      assert.equal((await usage({ groupBy: USAGE_GROUPS, most: 5 })).length, 5);
      assert.deepEqual(await usage({ onlyCodes: true }), [amounts(2, 0, 1, 1)]);
      assert.deepEqual(await usage({ since: START, until: START + HOUR_MS }), [amounts(8, 2, 2, 4)]);
      assert.deepEqual(await usage({ accountId: 'acc2' }), [amounts(0, 0, 0, 0)]);
    };
    await check();
    assert.equal(await rollUp(world, { now: START + HOUR_MS }), 2);
    await check();
    assert.equal(await rollUp(world), 1);
    await check();
    assert.equal(await rollUp(world), 0);
    assert.equal((await usage({ groupBy: USAGE_GROUPS, most: 2, now: START + DAY_MS })).length, 3);
  });

  test('an hour that has not ended is not rolled up', async () => {
    await world.fund(10);
    await world.accept(aSend(1));
    assert.equal(await rollUp(world, { now: START + HOUR_MS - 1 }), 0);
    assert.deepEqual(await total(), { charged: 1, refunded: 0, sends: 1 });
  });

  test('a late commit in an hour that is rolled up counts at once', async () => {
    await world.fund(10);
    await world.accept(aSend(1));
    await rollUp(world);
    await world.accept(aSend(2), aSend(3, { at: START - HOUR_MS }));
    assert.deepEqual(await total(), { charged: 3, refunded: 0, sends: 3 });
    assert.deepEqual(await total(), await books(world, TODAY, TODAY + DAY_MS));
  });

  test('a still later commit counts from the next comparison on, even if its hour was empty', async () => {
    await world.fund(10);
    await world.accept(aSend(1));
    const now = START + 20 * HOUR_MS;
    await rollUp(world, { now });
    await world.accept(aSend(2), aSend(3, { at: START - HOUR_MS }));
    assert.deepEqual(await total({ now }), { charged: 1, refunded: 0, sends: 1 });
    assert.equal(await rollUp(world, { now, verifyFrom: START }), 1);
    assert.equal(await rollUp(world, { now, verifyFrom: START - DAY_MS }), 1);
    assert.equal(await rollUp(world, { now, verifyFrom: START - DAY_MS }), 0);
    assert.deepEqual(await total({ now }), { charged: 3, refunded: 0, sends: 3 });
  });

  test('recipients may be removed after the roll-up; before it they count for no country, and no unit is lost', async () => {
    await world.fund(20);
    const numbers = [BF, SN].map((number) => ({ number, units: 2 }));
    await world.accept(aSend(1, { recipients: numbers }), aSend(2, { recipients: numbers, at: START + HOUR_MS }));
    for (const { messageId: id, position, attempt } of await world.claim({ now: START + HOUR_MS })) {
      const [status, at] = [position === 0 ? 'failed' : 'delivered', START + HOUR_MS] as const;
      await world.settle(id, status, { position, attempt, at });
    }
    await rollUp(world, { now: START + HOUR_MS });
    const order = { before: START + DAY_MS, now: START + DAY_MS, limit: 100 };
    while ((await world.retention.purgeMessages(order, contentRemover(undefined))) > 0);
    assert.deepEqual(
      sorted(await usage({ groupBy: ['country'] })),
      sorted([
        { country: 'BF', ...amounts(2, 0, 1, 1) },
        { country: 'SN', ...amounts(2, 0, 0, 1) },
        { country: 'unknown', ...amounts(4, 4, 1, 2) },
      ]),
    );
    assert.deepEqual(await total(), await books(world, TODAY, TODAY + DAY_MS));
  });

  test('a message to 6000 numbers is summed up completely', async () => {
    await world.fund(6000);
    const numbers = range(6000).map((index) => ({ number: String(22670000000 + index), units: 1 }));
    await world.accept(aSend(1, { recipients: numbers }));
    assert.deepEqual(await usage({ groupBy: ['country'] }), [{ country: 'BF', ...amounts(6000, 0, 1, 6000) }]);
    await rollUp(world);
    assert.deepEqual(await usage({ groupBy: ['country'] }), [{ country: 'BF', ...amounts(6000, 0, 1, 6000) }]);
  });

  test('codes are counted by name, and added up over days', async () => {
    const count = (name: string, days: number, over: object = {}) => {
      return { accountId: ACCOUNT, day: TODAY + days * DAY_MS, what: 'verified', name, count: 1, ...over } as const;
    };
    await world.usage.countCodes([count('BF', 0), count('SN', 0, { count: 2 }), count('BF', 1), count('BF', 2)]);
    await world.usage.countCodes([count('BF', 0, { count: 5 }), count('BF', 0, { accountId: 'acc2' })]);
    await world.usage.countCodes([count('country', 0, { what: 'refused' })]);
    await world.usage.countCodes([]);
    assert.deepEqual(await world.usage.codes(ACCOUNT, TODAY, TODAY + 2 * DAY_MS), [
      { what: 'refused', name: 'country', count: 1 },
      { what: 'verified', name: 'BF', count: 7 },
      { what: 'verified', name: 'SN', count: 2 },
    ]);
    // In any order.
    const both = [count('SN', 5), count('BF', 5)];
    await Promise.all(range(10).map((turn) => world.usage.countCodes(turn % 2 === 0 ? both : [...both].reverse())));
    assert.deepEqual(await world.usage.codes(ACCOUNT, TODAY + 5 * DAY_MS, TODAY + 6 * DAY_MS), [
      { what: 'verified', name: 'BF', count: 10 },
      { what: 'verified', name: 'SN', count: 10 },
    ]);
  });
}
