import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { DeliveryTransition } from '../../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { ACCOUNT, aSend, messageId, range, recipients, START } from '../fixtures.js';
import { LEASE, places, type StorageFixture } from '../storage-fixture.js';
import { atOnce, type Race, tally } from './race.js';

/** One message to `count` recipients of one unit each, all claimed. */
async function sending(world: StorageFixture, count: number): Promise<void> {
  await world.fund(count);
  await world.accept(aSend(1, { recipients: recipients(count) }));
  await world.claim();
}

function report(position: number, status: 'failed' | 'delivered' | 'unknown') {
  return { messageId: messageId(1), position, status, at: START + SECOND_MS };
}

/** Asserts that each of the message's first `count` deliveries occurs exactly once. */
function onceEach(rows: readonly { messageId: string; position: number }[], count: number): void {
  assert.deepEqual(places(rows).sort(), places(range(count).map((position) => report(position, 'unknown'))).sort());
}

const claims = { channel: 'sms', now: START, leaseUntil: START + LEASE, abandoned: false };

/** Races for deliveries: each is claimed once, and each transition happens once. */
export const DELIVERY_RACES: Readonly<Record<string, Race>> = {
  '20 claimers at once never get the same delivery': async (world, hand) => {
    await world.fund(100);
    await world.accept(aSend(1, { recipients: recipients(100) }));
    const taken = await atOnce(20, (index) =>
      hand(index)
        .store(OutboxStore)
        .claim({ ...claims, limit: 10 }),
    );
    for (const batch of taken) assert.ok(batch.length <= 10);
    const claimed = [...taken.flat(), ...(await world.claim({ limit: 200 }))];
    onceEach(claimed, 100);
    assert.ok(claimed.every(({ attempt }) => attempt === 1));
  },

  '20 claimers at once on several accounts and priorities: each delivery is claimed once, and none is left': async (
    world,
    hand,
  ) => {
    const accounts = ['a', 'b', 'c'];
    for (const account of accounts) await world.fund(60, account);
    const sends = accounts.flatMap((accountId, place) =>
      (['high', 'normal', 'bulk'] as const).map((priority, index) =>
        aSend(3 * place + index, { accountId, priority, recipients: recipients(20) }),
      ),
    );
    await world.accept(...sends);
    const taken = await atOnce(20, (index) =>
      hand(index)
        .store(OutboxStore)
        .claim({ ...claims, limit: 9 }),
    );
    for (const batch of taken) assert.ok(batch.length <= 9);
    const claimed = places([...taken.flat(), ...(await world.claim({ limit: 200 }))]);
    assert.equal(claimed.length, 180);
    assert.equal(new Set(claimed).size, 180);
  },

  '20 claimers at once in lanes: they get one delivery a lane, its first': async (world, hand) => {
    const lanes = ['a', 'b', 'c', 'd', 'e'];
    await world.fund(20);
    await world.accept(...range(20).map((index) => aSend(index, { ...laneOf(lanes, index), at: START + index })));
    const order = { ...claims, now: START + 99, limit: 10, lanes };
    const taken = await atOnce(20, (index) => hand(index).store(OutboxStore).claim(order));
    const claimed = [...taken.flat(), ...(await world.outbox.claim(order))];
    assert.deepEqual(claimed.map((delivery) => delivery.messageId).sort(), range(5).map(messageId));
  },

  '20 claimers at once on abandoned deliveries: each is taken over once': async (world, hand) => {
    await sending(world, 30);
    const now = START + LEASE + 1;
    const order = { ...claims, now, leaseUntil: now + LEASE, limit: 5, abandoned: true };
    const taken = await atOnce(20, (index) => hand(index).store(OutboxStore).claim(order));
    const claimed = [...taken.flat(), ...(await world.outbox.claim({ ...order, limit: 100 }))];
    onceEach(claimed, 30);
    assert.ok(claimed.every(({ attempt }) => attempt === 2));
  },

  '50 identical failures at once: one refund': async (world, hand) => {
    await sending(world, 1);
    const moved = await atOnce(50, (index) =>
      hand(index)
        .store(OutboxStore)
        .settle([report(0, 'failed')]),
    );
    assert.deepEqual(
      moved.flat().map(({ refund }) => refund),
      [1],
    );
    assert.equal((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.refundedUnits, 1);
    await world.holds(1);
  },

  'the same reports at once in different orders: each moves its delivery once': async (world, hand) => {
    await sending(world, 20);
    const reports = range(20).map((position) => report(position, position % 2 === 0 ? 'failed' : 'delivered'));
    const moved = await atOnce(20, (index) => {
      const turned = [...reports.slice(index), ...reports.slice(0, index)];
      return hand(index)
        .store(OutboxStore)
        .settle(index % 2 === 0 ? turned : turned.toReversed());
    });
    onceEach(moved.flat(), 20);
    await world.holds(10);
  },

  'failed and delivered at once: one of them wins, and the balance agrees with it': async (world, hand) => {
    await sending(world, 10);
    const moved = await atOnce(40, (index) =>
      hand(index >> 1)
        .store(OutboxStore)
        .settle([report(index % 10, index < 20 === (index % 2 === 0) ? 'failed' : 'delivered')]),
    );
    onceEach(moved.flat(), 10);
    await world.holds(tally(moved.flat().map(({ status }) => status)).get('failed') ?? 0);
  },

  'a retry and a takeover at once: one of them wins': async (world, hand) => {
    await sending(world, 10);
    const now = START + LEASE + 1;
    const later = { status: 'queued', attempt: 1, dueAt: now + LEASE, at: now } as const;
    const moved: DeliveryTransition[] = [];
    const taken = await atOnce(20, async (index) => {
      const storage = hand(index >> 1);
      const outbox = storage.store(OutboxStore);
      const order = { ...claims, now, leaseUntil: now + LEASE, limit: 1, abandoned: true };
      if (index % 2 === 0) return outbox.claim(order);
      moved.push(...(await outbox.settle([{ ...report(index >> 1, 'unknown'), ...later }])));
      return [];
    });
    const rest = await world.claim({ now, abandoned: true });
    onceEach([...taken.flat(), ...moved, ...rest], 10);
  },

  '20 expiries at once: each delivery becomes unknown once': async (world, hand) => {
    await sending(world, 30);
    const order = { channel: 'sms', now: START + LEASE + 1, limit: 10, statuses: ['sending'] } as const;
    const moved = await atOnce(20, (index) => hand(index).store(OutboxStore).expire(order));
    onceEach([...moved.flat(), ...(await world.outbox.expire({ ...order, limit: 100 }))], 30);
    await world.holds(0);
  },
};

function laneOf(lanes: readonly string[], index: number): { lane?: string } {
  const lane = lanes[index % lanes.length];
  return lane === undefined ? {} : { lane };
}
