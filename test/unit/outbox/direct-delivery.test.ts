import { describe, expect, test } from '@jest/globals';
import { deliveriesOf } from '../../../src/outbox/accept/send-deliveries.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import { HandOver } from '../../../src/outbox/delivery/hand-over.js';
import { type OperatingState, OperatingStore, OperatingSwitches } from '../../../src/outbox/operating-state.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, messageId, range } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { NoDatabase } from '../../support/mounting/no-database.js';
import { DeliveryFixture, Gate } from '../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();

const open = async (...args: Parameters<typeof DeliveryFixture.open>) => opened(await DeliveryFixture.open(...args));

/** How many deliveries the claims of workers have taken. */
async function claimed(world: DeliveryFixture, work: () => Promise<unknown>): Promise<number> {
  let taken = 0;
  const { outbox } = world.storage;
  const claim = outbox.claim.bind(outbox);
  outbox.claim = async (order) => {
    const deliveries = await claim(order);
    taken += deliveries.length;
    return deliveries;
  };
  await work();
  return taken;
}

describe('an accepted send', () => {
  test('is delivered without a claim, and as a claim would return it', async () => {
    const world = await open();
    world.worker();
    await settled();
    const send = aSend(0, {
      payload: { kind: 'text', text: 'Bonjour {name}', personal: 'off' },
      recipients: [{ number: '22670000000', units: 1, vars: { name: 'Awa' } }],
      trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    const count = await claimed(world, async () => {
      await world.send(send);
      await world.pass(200);
    });
    expect([count, await world.status(), await world.balance(), await world.books()]).toEqual([
      0,
      'delivered',
      999,
      [],
    ]);
    await world.accept({ ...send, id: messageId(1) });
    await world.pass(200);
    const [direct, viaClaim] = world.channel.batches.flat();
    expect(direct).toEqual({ ...viaClaim, messageId: messageId(0), acceptedAt: direct?.acceptedAt });
    expect(Object.keys(direct ?? {}).sort()).toEqual(Object.keys(viaClaim ?? {}).sort());
  });

  test('is queued if its channel must not repeat, so that a crash leaves it queued', async () => {
    const world = await open('at-most-once');
    const worker = world.worker();
    await settled();
    await worker.stop();
    await world.send(aSend(0));
    expect([worker.direct, await world.status()]).toEqual([undefined, 'queued']);
  });

  test('that is refused gives its capacity back', async () => {
    const world = await open();
    world.worker({ batchSize: 2 });
    await settled();
    for (const index of range(5)) {
      const tooDear = aSend(index, { recipients: [{ number: '22670000000', units: 5000 }] });
      await expect(world.send(tooDear)).rejects.toThrow('error.insufficient_balance');
    }
    const count = await claimed(world, async () => {
      await world.send(aSend(7), aSend(8));
      await world.pass(200);
    });
    expect([count, world.channel.batches.flat().length]).toEqual([0, 2]);
  });

  test('does not overtake what others have stored', async () => {
    const world = await open();
    world.worker({ batchSize: 3 });
    await settled();
    await world.accept(...range(4).map((index) => aSend(index)));
    await world.send(aSend(4));
    await world.pass(1000);
    expect(world.channel.batches.flat().map(({ messageId: id }) => id)).toEqual(range(5).map(messageId));
  });

  test('is queued while all batches are in flight, and takes no turn from others afterwards', async () => {
    const world = await open();
    const gate = new Gate();
    world.channel.carrier = async (batch) => {
      await gate.opened;
      return batch.map(() => ({ kind: 'sent', final: 'delivered' }) satisfies DeliveryResult);
    };
    world.worker({ concurrency: 1 });
    await settled();
    await world.send(aSend(0));
    await world.pass(100);
    await world.send(aSend(1));
    expect([await world.status(0), await world.status(1)]).toEqual(['sending', 'queued']);
    gate.open();
    await world.pass(1000);
    expect([await world.status(0), await world.status(1)]).toEqual(['delivered', 'delivered']);
    expect(world.channel.peak).toBe(1);
  });

  test.each([
    ['has no capacity of its own', undefined],
    ['does not report its capacity', () => undefined],
  ] as const)('is one of at most `batchSize` that are handed over together, if its channel %s', async (_, capacity) => {
    const world = await open();
    if (capacity) world.channel.capacity = capacity;
    world.worker({ concurrency: 2, batchSize: 2 });
    await settled();
    // The worker pauses after a round, so they gather.
    await world.send(...range(5).map((index) => aSend(index)));
    const stored = await Promise.all(range(5).map((index) => world.status(index)));
    expect(stored).toEqual(['sending', 'sending', 'queued', 'queued', 'queued']);
    await world.pass(1000);
    expect(world.channel.batches.map(({ length }) => length)).toEqual([2, 2, 1]);
  });

  test('is queued again at its place if the worker stops before it has submitted it', async () => {
    const world = await open();
    const worker = world.worker();
    await settled();
    // The worker pauses after a round, so it has not taken the delivery when it is stopped.
    await world.send(aSend(0));
    expect(await world.status()).toBe('sending');
    await Promise.all([worker.stop(), world.pass(1000)]);
    expect([await world.status(), world.channel.batches]).toEqual(['queued', []]);
    await world.accept(aSend(1));
    world.worker();
    await world.pass(200);
    expect(world.channel.batches.flat().map(({ messageId: id, attempt }) => `${id} ${attempt}`)).toEqual([
      `${messageId(0)} 1`,
      `${messageId(1)} 1`,
    ]);
  });

  test('that the process never submits is claimed by another worker when its lease ends', async () => {
    const world = await open();
    const never = new Gate();
    world.channel.carrier = () => never.opened.then(() => []);
    world.worker({ concurrency: 1 });
    await settled();
    await world.send(aSend(0));
    await settled();
    const again = await world.storage.outbox.claim({
      channel: 'sms',
      limit: 10,
      now: world.clock.now() + world.channel.timing.leaseMs,
      leaseUntil: world.clock.now() + 2 * world.channel.timing.leaseMs,
      abandoned: true,
    });
    expect(again).toMatchObject([{ messageId: messageId(0), attempt: 2, abandoned: true, doubtful: true }]);
    never.open();
  });

  test('of an account that is paused meanwhile is queued again', async () => {
    const world = await open();
    const store = new Paused(new NoDatabase());
    world.worker({}, new OperatingSwitches(world.clock, store, world.notifier));
    await settled();
    await world.send(aSend(0));
    expect(await world.status()).toBe('sending');
    store.known = { pauses: [{ channel: undefined, accountId: ACCOUNT, since: 0 }], rested: new Set() };
    world.notifier.publish('operating', '*');
    await world.pass(1000);
    expect([await world.status(), world.channel.batches]).toEqual(['queued', []]);
    store.known = { pauses: [], rested: new Set() };
    world.notifier.publish('operating', '*');
    await world.pass(3000);
    expect([await world.status(), world.channel.batches.flat().map(({ attempt }) => attempt)]).toEqual([
      'delivered',
      [1],
    ]);
  });
});

/** Operators have paused what a test says. */
class Paused extends OperatingStore {
  known: OperatingState = { pauses: [], rested: new Set() };

  override async state(): Promise<OperatingState> {
    return this.known;
  }
}

describe('the deliveries that are handed over', () => {
  const sends = range(3).map((index) => aSend(index));
  const deliveries = sends.flatMap(deliveriesOf);

  test('share a lease for a twentieth of it, and then get another', () => {
    const clock = new FakeClock();
    const handOver = new HandOver(
      clock,
      10_000,
      () => 10,
      () => undefined,
    );
    const first = handOver.reserve(1);
    clock.advance(499);
    expect(handOver.reserve(2)).toBe(first);
    clock.advance(1);
    expect(handOver.reserve(1)).toBe((first ?? 0) + 500);
  });

  test('count as held until they are taken or released', () => {
    const handOver = new HandOver(
      new FakeClock(),
      10_000,
      () => 3,
      () => undefined,
    );
    const leaseUntil = handOver.reserve(3) ?? 0;
    expect(handOver.reserve(4)).toBe(undefined);
    handOver.receive(deliveries.slice(0, 2), leaseUntil);
    expect([handOver.held, handOver.isEmpty]).toEqual([3, false]);
    handOver.release(1);
    expect(handOver.take()).toEqual({ batch: deliveries.slice(0, 2), leaseUntil });
    expect([handOver.held, handOver.isEmpty, handOver.take()]).toEqual([0, true, undefined]);
  });
});
