import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { CampaignFixture, type Carry } from '../../support/outbox/campaign-fixture.js';
import { CARRIERS, type CarrierAt50, http, smpp } from '../../support/outbox/carriers-at-50.js';

const opened = closeAfterEach();
const open = (...args: ConstructorParameters<typeof CampaignFixture>) => opened(new CampaignFixture(...args));

beforeAll(() => Logger.overrideLogger(false));
afterEach(() => void jest.restoreAllMocks());

const sent: SubmitResult = { kind: 'sent', final: 'delivered' };

describe.each(Object.entries(CARRIERS))('a campaign at 50 parts a second: %s', (_, make) => {
  let carrier: CarrierAt50;
  let world: CampaignFixture;
  beforeEach(async () => {
    carrier = await make();
    world = open(carrier.clock, carrier.carry);
  });

  test('costs one claim a message, holds only a few at a time, and keeps the carrier busy', async () => {
    const { queue } = world;
    queue.add(2000);
    world.worker.start();
    const ms = await world.until(() => queue.done.length === 2000, 120_000);
    expect(queue.done).toHaveLength(2000);
    expect(queue.claimed / 2000).toBeLessThanOrEqual(1.05);
    expect(queue.putBack.length / 2000).toBeLessThanOrEqual(0.05);
    expect(world.maxHeld).toBeLessThanOrEqual(60);
    // 40 s at 50 a second. HTTP runs 15 requests of 300 ms.
    expect(ms).toBeLessThan(43_000);
    expect(queue.claims.length).toBeLessThanOrEqual((ms / 1000) * 20 + 10);
  });

  test('hands over a code that is accepted meanwhile before all but a few messages', async () => {
    const { queue, worker, clock } = world;
    queue.add(2000);
    worker.start();
    await world.pass(10_000);
    const before = carrier.given.length;
    const accepted = clock.elapsed();
    queue.add(1, 'code', 'code');
    worker.notify();
    const isGiven = () => carrier.given.slice(before).some((each) => each.startsWith('code'));
    await world.until(isGiven, 5000, 5);
    const place = carrier.given.slice(before).findIndex((each) => each.startsWith('code'));
    expect(place).toBeGreaterThanOrEqual(0);
    expect(place).toBeLessThanOrEqual(20);
    expect(clock.elapsed() - accepted).toBeLessThanOrEqual(500);
  });

  test('counts texts of three parts three times', async () => {
    const { queue } = world;
    queue.add(300, 'bulk', 'a'.repeat(3 * 153));
    world.worker.start();
    const parts = _.startsWith('HTTP') ? 1 : 3;
    const ms = await world.until(() => queue.done.length === 300, 120_000);
    expect(queue.done).toHaveLength(300);
    expect(queue.claimed / 300).toBeLessThanOrEqual(1.05);
    expect(ms).toBeLessThan((300 * parts * 1000) / 50 + 3000);
    expect(world.maxHeld).toBeLessThanOrEqual(60 / parts + 17);
  });

  test('looks once a poll if there is nothing to do, and hands over new messages at once', async () => {
    const { queue, worker } = world;
    worker.start();
    await world.pass(20_000);
    expect(queue.claims.length).toBeLessThanOrEqual(23);
    queue.add(1, 'normal', 'one');
    worker.notify();
    await world.until(() => carrier.given.length === 1, 1000, 5);
    const waited = world.clock.elapsed();
    await world.until(() => queue.done.length === 1, 5000, 5);
    expect([carrier.given.length, waited <= 20_020]).toEqual([1, true]);
  });
});

describe('a carrier that is faster than we are', () => {
  test.each<[string, () => Promise<CarrierAt50>]>([
    ['SMPP with a window', () => smpp({ window: 50 }, 1)],
    ['HTTP with quick answers', () => http(64, 1)],
  ])('soon gets full batches: %s', async (_, make) => {
    const { clock, carry, given } = await make();
    const world = open(clock, carry);
    const { queue } = world;
    queue.add(20_000);
    world.worker.start();
    await world.until(() => queue.done.length === 20_000, 60_000, 1);
    expect(given).toHaveLength(20_000);
    const full = queue.claims.filter(({ taken }) => taken === 500).length;
    expect(full).toBeGreaterThanOrEqual(30);
    expect(queue.claims.length).toBeLessThanOrEqual(70);
  });

  test('gets only full batches if its channel reports no capacity', async () => {
    const clock = new FakeClock();
    const world = open(clock, { submit: async (batch) => batch.map(() => sent) });
    world.queue.add(5000);
    world.worker.start();
    await world.pass(100);
    expect(world.queue.claims.filter(({ taken }) => taken > 0).map(({ taken }) => taken)).toEqual(Array(10).fill(500));
  });
});

/** A carrier that holds what it gets until the test lets it answer, and reports the capacity that the test sets. */
class HoldingCarrier implements Carry {
  readonly given: OutgoingSms[] = [];
  hasCapacity: () => number | undefined = () => undefined;
  private readonly held: (() => void)[] = [];

  submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    this.given.push(...batch);
    return new Promise((resolve) => {
      this.held.push(() => resolve(batch.map(() => sent)));
    });
  }

  capacity(): number | undefined {
    return this.hasCapacity();
  }

  answer(): void {
    this.held.shift()?.();
  }
}

describe('the slot for codes', () => {
  const priorities = ({ given }: HoldingCarrier) => given.map(({ priority }) => priority);

  test('stays free while all batches of a slow carrier are under way, so a code is handed over at once', async () => {
    const carrier = new HoldingCarrier();
    const world = open(new FakeClock(), carrier, { batchSize: 5, concurrency: 2 });
    world.queue.add(100);
    world.worker.start();
    await world.pass(1000);
    expect(priorities(carrier)).toEqual(Array(10).fill('bulk'));
    world.queue.add(1, 'code');
    world.worker.notify();
    await world.pass(100);
    expect(priorities(carrier).slice(10)).toEqual(['code']);
  });

  test('is one slot: further codes come when it is free, and no other message ever uses it', async () => {
    const carrier = new HoldingCarrier();
    const world = open(new FakeClock(), carrier, { batchSize: 5, concurrency: 1 });
    world.queue.add(100);
    world.worker.start();
    await world.pass(100);
    world.queue.add(7, 'code');
    world.worker.notify();
    await world.pass(1000);
    expect(priorities(carrier).slice(5)).toEqual(Array(5).fill('code'));
    const claims = world.queue.claims.length;
    await world.pass(10_000);
    expect(world.queue.claims.length).toBe(claims);
    carrier.answer();
    await world.pass(100);
    expect(priorities(carrier).slice(10)).toEqual([...Array(2).fill('code'), ...Array(3).fill('bulk')]);
  });

  test('is checked when deliveries were accepted, otherwise once a poll', async () => {
    const carrier = new HoldingCarrier();
    const world = open(new FakeClock(), carrier, { batchSize: 5, concurrency: 1, pollMs: 2000 });
    world.queue.add(100);
    world.worker.start();
    await world.pass(100);
    const before = world.queue.claims.length;
    await world.pass(20_000);
    expect(world.queue.claims.length - before).toBeLessThanOrEqual(11);
    expect(world.queue.claims.slice(before).every(({ only }) => only === 'code')).toBe(true);
    // Another process accepts it, so nobody notifies this one.
    world.queue.add(1, 'code');
    await world.pass(2100);
    expect(priorities(carrier).at(-1)).toBe('code');
  });

  test('is checked again after a fault of the storage', async () => {
    const carrier = new HoldingCarrier();
    const world = open(new FakeClock(), carrier, { batchSize: 5, concurrency: 1, pollMs: 60_000 });
    world.queue.add(100);
    world.worker.start();
    await world.pass(100);
    world.queue.add(1, 'code');
    world.queue.claimFaults.push(new Error('The database is away.'));
    world.worker.notify();
    await world.pass(1200);
    expect(priorities(carrier).at(-1)).toBe('code');
  });
});

describe('a channel that reports its capacity', () => {
  test('gets no claim beyond its capacity, and a fraction of a delivery counts as none', async () => {
    const carrier = new HoldingCarrier();
    carrier.hasCapacity = () => 7.9 - carrier.given.length;
    const world = open(new FakeClock(), carrier);
    world.queue.add(100);
    world.worker.start();
    await world.pass(5000);
    expect(carrier.given).toHaveLength(7);
    expect(world.queue.claims.filter(({ only }) => !only)).toEqual([expect.objectContaining({ limit: 7, taken: 7 })]);
  });

  test('has as many deliveries under way as full batches would have, in however many batches', async () => {
    const carrier = new HoldingCarrier();
    carrier.hasCapacity = () => 3;
    const world = open(new FakeClock(), carrier, { batchSize: 10, concurrency: 2 });
    world.queue.add(100);
    world.worker.start();
    await world.pass(10_000);
    expect(carrier.given).toHaveLength(20);
    for (let batch = 0; batch < 7; batch++) carrier.answer();
    await world.pass(10_000);
    expect(carrier.given).toHaveLength(40);
  });

  test.each([0, -3, Number.NEGATIVE_INFINITY, Number.NaN])(
    'gets no claim at capacity %p while it holds a delivery, and one claim after ten seconds if it holds none',
    async (capacity) => {
      const carrier = new HoldingCarrier();
      carrier.hasCapacity = () => capacity;
      const world = open(new FakeClock(), carrier);
      world.queue.add(100);
      world.worker.start();
      await world.pass(60_000, 50);
      expect(carrier.given).toHaveLength(1);
      carrier.answer();
      await world.pass(1000);
      expect(carrier.given).toHaveLength(2);
      carrier.answer();
      await world.pass(8500, 50);
      expect(carrier.given).toHaveLength(2);
      await world.pass(1500, 50);
      expect(carrier.given).toHaveLength(3);
    },
  );

  test('at no capacity for long is checked only for codes, and goes on at once when capacity returns', async () => {
    const carrier = new HoldingCarrier();
    let capacity = 5;
    carrier.hasCapacity = () => capacity;
    const world = open(new FakeClock(), carrier);
    world.queue.add(100);
    world.worker.start();
    await world.until(() => carrier.given.length > 0);
    capacity = 0;
    await world.pass(30_000);
    const ordinary = () => world.queue.claims.filter(({ only }) => !only).length;
    expect([ordinary(), world.queue.looks]).toEqual([1, 0]);
    expect(world.queue.claims.length).toBeLessThanOrEqual(32);
    capacity = 20;
    await world.pass(150);
    expect(carrier.given.length).toBeGreaterThanOrEqual(25);
  });

  test('is not claimed for in a hot loop if it puts back one delivery after the other', async () => {
    const clock = new FakeClock();
    const submit: Carry['submit'] = async (batch) =>
      batch.map(() => ({ kind: 'postponed', error: 'circuit_open', until: clock.now() + 30_000, away: true }));
    const world = open(clock, { submit, capacity: () => 1 });
    world.queue.add(1000);
    world.worker.start();
    await world.pass(10_000);
    expect(world.queue.claims.length).toBeLessThanOrEqual(40);
    expect(world.queue.putBack.length).toBeLessThanOrEqual(40);
  });
});
