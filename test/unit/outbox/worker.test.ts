import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { DELIVERY_EVENTS } from '../../../src/events/event-types.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { DeliveryResult, RepeatPolicy } from '../../../src/outbox/delivery/delivery-result.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { asStorageFault } from '../../../src/storage/engine/faults.js';
import { aSend, messageId } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { DeliveryFixture, Gate } from '../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();
const open = async (...args: Parameters<typeof DeliveryFixture.open>) => opened(await DeliveryFixture.open(...args));

beforeAll(() => Logger.overrideLogger(false));
afterEach(() => void jest.restoreAllMocks());

const retry: DeliveryResult = { kind: 'retry', error: 'busy' };
const sent: DeliveryResult = { kind: 'sent' };
const delivered: DeliveryResult = { kind: 'sent', final: 'delivered' };

/** The times of the attempts, in milliseconds after the first. */
async function attempts(world: DeliveryFixture): Promise<number[]> {
  const at: number[] = [];
  world.channel.carrier = async (batch) => {
    at.push(world.clock.now());
    return batch.map(() => retry);
  };
  world.worker();
  await world.acceptSome(1);
  await world.pass(30_000, 10);
  return at.map((time) => time - (at[0] ?? 0));
}

describe('an attempt that may succeed later', () => {
  test.each([
    { random: 0, waits: [500, 1000, 2000] },
    { random: 0.999_999, waits: [1000, 2000, 4000] },
  ])('is repeated after growing waits, from the shortest to the longest ($random)', async ({ random, waits }) => {
    const world = await open();
    world.random.value = random;
    const at = await attempts(world);
    expect(at).toHaveLength(4);
    const between = at.slice(1).map((time, index) => time - (at[index] ?? 0));
    // Never sooner than the backoff. Later only by the gathering time and the step of this test's clock.
    for (const [index, wait] of waits.entries()) {
      expect(between[index]).toBeGreaterThanOrEqual(wait);
      expect(between[index]).toBeLessThan(wait + 30);
    }
  });

  test('fails for good after the last attempt, and is refunded once', async () => {
    const world = await open();
    const moved: string[] = [];
    world.events.on(DELIVERY_EVENTS, ({ data }) => moved.push(`${data.status} ${data.refunded_units} ${data.error}`));
    await attempts(world);
    expect([await world.status(), await world.balance()]).toEqual(['failed', 1000]);
    expect(moved).toEqual(['failed 1 busy']);
    await world.outbox.settle([{ messageId: messageId(0), position: 0, status: 'failed', at: world.clock.now() }]);
    expect([await world.balance(), await world.books()]).toEqual([1000, []]);
  });

  test('does not wait forever for an unavailable carrier: it fails, and is refunded once', async () => {
    const world = await open();
    world.channel.carrier = async (batch) =>
      batch.map(() => ({ kind: 'postponed', error: 'circuit_open', until: world.clock.now() + 30_000, away: true }));
    world.worker();
    await world.acceptSome(1);
    await world.pass(world.channel.timing.maxAwayMs - 60_000, 30_000);
    expect([await world.status(), await world.balance()]).toEqual(['queued', 999]);
    await world.pass(120_000, 30_000);
    expect([await world.status(), await world.balance(), await world.books()]).toEqual(['failed', 1000, []]);
  });

  test('is delivered when it succeeds at last, and costs the usual price', async () => {
    const world = await open();
    world.channel.carrier = async (batch) => batch.map(({ attempt }) => (attempt < 3 ? retry : delivered));
    world.worker();
    await world.acceptSome(1);
    await world.pass(10_000);
    expect([await world.status(), await world.balance(), await world.books()]).toEqual(['delivered', 999, []]);
  });
});

describe('a report', () => {
  test('that does not come makes the delivery unknown after the deadline; a late one moves it on', async () => {
    const world = await open();
    world.channel.carrier = async (batch) => batch.map(() => sent);
    world.worker();
    await world.acceptSome(1);
    await world.pass(59_000, 500);
    expect(await world.status()).toBe('sent');
    await world.pass(3000);
    expect(await world.status()).toBe('unknown');
    await world.outbox.settle([{ messageId: messageId(0), position: 0, status: 'delivered', at: world.clock.now() }]);
    expect([await world.status(), await world.balance(), await world.books()]).toEqual(['delivered', 999, []]);
    await world.pass(120_000, 1000);
    expect([...world.channel.submitted.values()]).toEqual([1]);
  });

  test('that overtakes the result of the attempt stands', async () => {
    const world = await open();
    world.channel.carrier = async (batch) => {
      await world.outbox.settle([{ messageId: messageId(0), position: 0, status: 'delivered', at: world.clock.now() }]);
      return batch.map(() => sent);
    };
    world.worker();
    await world.acceptSome(1);
    await world.pass(100);
    expect(await world.status()).toBe('delivered');
  });
});

describe('a transport that throws', () => {
  test.each(['at-most-once', 'at-least-once'] as const)('leaves its deliveries unknown (%s)', async (repeat) => {
    const world = await open(repeat);
    world.channel.carrier = async () => {
      throw new Error('the line is cut');
    };
    world.worker();
    await world.acceptSome(3);
    await world.pass(60_000, 500);
    expect([await world.status(0), await world.status(2), await world.balance()]).toEqual(['unknown', 'unknown', 997]);
    expect([...world.channel.submitted.values()]).toEqual([1, 1, 1]);
  });

  test('gets its deliveries again if repeating is harmless', async () => {
    const world = await open('idempotent');
    let calls = 0;
    world.channel.carrier = async (batch) => {
      if (++calls === 1) throw new Error('the line is cut');
      return batch.map(() => delivered);
    };
    world.worker();
    await world.acceptSome(1);
    await world.pass(5000);
    expect([calls, await world.status()]).toEqual([2, 'delivered']);
  });

  test('before it answers anything has the same effect, and one with too few answers leaves the rest unknown', async () => {
    const world = await open('at-most-once');
    world.channel.carrier = (batch) => {
      if (batch.length === 1) throw new Error('at once, not as a promise');
      return Promise.resolve([delivered]);
    };
    world.worker();
    await world.acceptSome(1);
    await world.pass(100);
    await world.accept(aSend(1), aSend(2));
    await world.pass(100);
    expect([await world.status(0), await world.status(1), await world.status(2)]).toEqual([
      'unknown',
      'delivered',
      'unknown',
    ]);
  });
});

describe('a worker that disappeared', () => {
  /** Claims everything due and never reports back. */
  const vanish = ({ storage, clock, channel }: DeliveryFixture) =>
    storage.outbox.claim({
      channel: 'sms',
      limit: 100,
      now: clock.now(),
      leaseUntil: clock.now() + channel.timing.leaseMs,
      abandoned: channel.repeat !== 'at-most-once',
    });

  test.each(['idempotent', 'at-least-once'] as const)(
    'leaves deliveries that another worker takes over after the lease (%s)',
    async (repeat) => {
      const world = await open(repeat);
      await world.acceptSome(2);
      await vanish(world);
      world.worker();
      await world.pass(9900);
      expect([world.channel.batches, await world.status()]).toEqual([[], 'sending']);
      await world.pass(1500);
      expect([await world.status(0), await world.status(1), await world.balance()]).toEqual([
        'delivered',
        'delivered',
        998,
      ]);
    },
  );

  test('leaves deliveries that nobody may repeat: they are unknown after the lease (at-most-once)', async () => {
    const world = await open('at-most-once');
    await world.acceptSome(2);
    await vanish(world);
    world.worker();
    await world.pass(9900);
    expect(await world.status()).toBe('sending');
    await world.pass(5000);
    expect([await world.status(0), world.channel.batches]).toEqual(['unknown', []]);
  });

  test('again and again with the same delivery does not get it handed over once more', async () => {
    const world = await open('at-least-once');
    await world.acceptSome(1);
    for (let death = 0; death < world.channel.timing.maxAttempts; death++) {
      await vanish(world);
      world.clock.advance(world.channel.timing.leaseMs + 1);
    }
    await world.accept(aSend(1));
    world.worker();
    await world.pass(1000);
    expect([await world.status(0), await world.status(1)]).toEqual(['unknown', 'delivered']);
    expect([...world.channel.submitted.keys()]).toEqual([`${messageId(1)}/0`]);
    const [recipient] = await world.storage.outbox.recipients(messageId(0));
    expect(recipient?.error).toBe('too_many_attempts');
  });
});

describe('a storage that fails', () => {
  const away = () => new StorageUnavailableError('The database is away.');

  test('during a claim is asked again a second later', async () => {
    const world = await open();
    await world.acceptSome(1);
    world.storage.outbox.claimFaults.push(away(), away());
    world.worker();
    await world.pass(900);
    expect([world.storage.outbox.claims.length, await world.status()]).toEqual([1, 'queued']);
    await world.pass(2000);
    expect([world.storage.outbox.claims.length >= 3, await world.status()]).toEqual([true, 'delivered']);
  });

  test.each(['idempotent', 'at-least-once', 'at-most-once'] as const)(
    'for a moment during a settlement is asked again: nothing is handed over twice, nothing becomes unknown (%s)',
    async (repeat) => {
      const world = await open(repeat);
      world.storage.outbox.settleFaults.push(away(), away(), away());
      world.worker();
      await world.acceptSome(1);
      await world.pass(15_000);
      expect([await world.status(), world.channel.batches.length]).toEqual(['delivered', 1]);
      expect([await world.balance(), await world.books()]).toEqual([999, []]);
    },
  );

  test('permanently during a settlement is soon asked no more', async () => {
    const world = await open('at-most-once');
    const faults = Array.from({ length: 5 }, () => new Error('a mistake of ours'));
    world.storage.outbox.settleFaults.push(...faults);
    world.worker();
    await world.acceptSome(1);
    await world.pass(8000);
    expect(world.storage.outbox.settleFaults).toHaveLength(4);
  });

  /** Settlements fail as `fault` says. Returns how many came at a time, and what was logged. */
  const failing = (
    { storage: { outbox } }: DeliveryFixture,
    fault: (messages: readonly string[], call: number) => Error | undefined,
  ) => {
    const sizes: number[] = [];
    const settle = outbox.settle.bind(outbox);
    jest.spyOn(outbox, 'settle').mockImplementation(async (settlements) => {
      // The expiry of nothing comes by here too.
      if (settlements.length === 0) return [];
      const error = fault(
        settlements.map((settlement) => settlement.messageId),
        sizes.push(settlements.length),
      );
      if (error) throw error;
      return settle(settlements);
    });
    const logged: string[] = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void logged.push(String(line)));
    return { sizes, logged };
  };
  const mistake = () => new RangeError('a mistake of ours');

  test('while it settles one delivery leaves the others of its batch settled', async () => {
    const world = await open('at-least-once');
    const { sizes, logged } = failing(world, (messages) => (messages.includes(messageId(1)) ? mistake() : undefined));
    world.worker();
    await world.acceptSome(4);
    await world.pass(15_000);
    const statuses = await Promise.all([0, 1, 2, 3].map((index) => world.status(index)));
    expect(statuses).toEqual(['delivered', 'sending', 'delivered', 'delivered']);
    // Only the delivery whose settlement was not stored was handed over again after its lease.
    expect([...world.channel.submitted.values()]).toEqual([1, 2, 1, 1]);
    expect([await world.balance(), await world.books()]).toEqual([996, []]);
    expect(sizes).toEqual([4, 1, 1, 1, 1, 1]);
    const line = `Channel sms: RangeError. The result of ${messageId(1)}:0 is not stored`;
    // The second time within the minute is only counted.
    expect(logged).toEqual([line]);
  });

  test('for one settlement and then becomes unavailable for a moment is asked again for the others', async () => {
    const world = await open('at-least-once');
    const { sizes } = failing(world, (messages, call) => {
      if (call === 3) return away();
      return messages.includes(messageId(0)) ? mistake() : undefined;
    });
    world.worker();
    await world.acceptSome(3);
    await world.pass(9000);
    const statuses = await Promise.all([0, 1, 2].map((index) => world.status(index)));
    expect(statuses).toEqual(['sending', 'delivered', 'delivered']);
    expect(sizes).toEqual([3, 1, 1, 1, 1]);
  });

  test.each([
    ['MariaDB', 'ER_UNKNOWN_COM_ERROR', '08S01'],
    ['MariaDB', 'ER_ERROR_DURING_COMMIT', 'HY000'],
    ['MariaDB', 'ER_LOCK_DEADLOCK', '40001'],
    ['MariaDB', 'ER_OPTION_PREVENTS_STATEMENT', 'HY000'],
    ['MariaDB', 'ER_SERVER_SHUTDOWN', '08S01'],
    ['MariaDB', 'PROTOCOL_CONNECTION_LOST', undefined],
    ['PostgreSQL', '08006', undefined],
    ['PostgreSQL', '57P01', undefined],
    ['PostgreSQL', '57P03', undefined],
    ['PostgreSQL', '25006', undefined],
    ['PostgreSQL', '40001', undefined],
    ['PostgreSQL', '53100', undefined],
    ['SQLite', 'SQLITE_FULL', undefined],
    ['SQLite', 'SQLITE_IOERR_FSYNC', undefined],
  ])('for seconds during settlements, as %s says with %s, loses no result', async (_kind, code, sqlState) => {
    const world = await open('at-most-once');
    const refused: DeliveryResult = { kind: 'refused', error: 'bad_number' };
    world.channel.carrier = async (batch) => batch.map((_, index) => (index === 0 ? refused : delivered));
    const fault = asStorageFault(Object.assign(new Error('From the driver.'), { code, sqlState }));
    const faults = Array.from({ length: 5 }, () => (fault instanceof Error ? fault : new Error('None.')));
    world.storage.outbox.settleFaults.push(...faults);
    world.worker();
    await world.acceptSome(2);
    await world.pass(8000);
    expect([await world.status(0), await world.status(1)]).toEqual(['failed', 'delivered']);
    expect([await world.balance(), await world.books()]).toEqual([999, []]);
  });

  test.each(['idempotent', 'at-least-once', 'at-most-once'] as const)(
    'completely until the lease has ended gets the results before anything else is claimed (%s)',
    async (repeat) => {
      const world = await open(repeat);
      const outbox = world.storage.store(OutboxStore);
      const calls = [jest.spyOn(outbox, 'settle'), jest.spyOn(outbox, 'claim'), jest.spyOn(outbox, 'expire')];
      const refused: DeliveryResult = { kind: 'refused', error: 'bad_number' };
      world.channel.carrier = async (batch) => {
        for (const call of calls) call.mockRejectedValue(away());
        return batch.map((_, index) => [refused, sent, delivered][index] ?? sent);
      };
      world.worker();
      await world.acceptSome(3);
      await world.pass(40_000);
      expect([await world.status(0), world.channel.batches.length]).toEqual(['sending', 1]);
      for (const call of calls) call.mockRestore();
      await world.pass(3000);
      const statuses = await Promise.all([0, 1, 2].map((index) => world.status(index)));
      expect([statuses, world.channel.batches.length]).toEqual([['failed', 'sent', 'delivered'], 1]);
      expect([await world.balance(), await world.books()]).toEqual([998, []]);
    },
  );

  test.each([
    { repeat: 'idempotent', status: 'delivered', handedOver: 2 },
    { repeat: 'at-least-once', status: 'delivered', handedOver: 2 },
    { repeat: 'at-most-once', status: 'unknown', handedOver: 1 },
  ] as const)(
    'only for settlements, past the lease: the policy $repeat applies, and a late refusal refunds nothing',
    async ({ repeat, status, handedOver }) => {
      const world = await open(repeat);
      world.channel.carrier = async (batch) =>
        batch.map(({ attempt }) => (attempt === 1 ? { kind: 'refused', error: 'bad_number' } : delivered));
      world.storage.outbox.settleFaults.push(...Array.from({ length: 14 }, away));
      world.worker();
      await world.acceptSome(1);
      await world.pass(9500);
      expect([await world.status(), world.channel.batches.length]).toEqual(['sending', 1]);
      await world.pass(10_000);
      expect([await world.status(), world.channel.batches.length]).toEqual([status, handedOver]);
      expect([await world.balance(), await world.books()]).toEqual([999, []]);
    },
  );

  test('only for settlements, for more than an hour: the result is dropped, and the log says which one', async () => {
    const world = await open('at-most-once');
    const { sizes, logged } = failing(world, () => away());
    world.worker();
    await world.acceptSome(1);
    await world.pass(3_620_000, 1000);
    const asked = sizes.length;
    expect(logged).toContain(`Channel sms: a result could not be stored in time. It is dropped: ${messageId(0)}:0`);
    await world.pass(60_000, 1000);
    expect(sizes).toHaveLength(asked);
  });
});

describe('limits', () => {
  test('a batch is never larger, and there are never more batches on the wire, than the options say', async () => {
    const world = await open();
    const gates: Gate[] = [];
    world.channel.carrier = async (batch) => {
      const gate = new Gate();
      gates.push(gate);
      await gate.opened;
      return batch.map(() => delivered);
    };
    world.worker({ batchSize: 10, concurrency: 3 });
    await world.acceptSome(95);
    await world.pass(3000);
    expect([gates.length, world.channel.under]).toEqual([3, 3]);
    for (let count = 0; count < 10; count++) {
      gates[count]?.open();
      await world.pass(200, 10);
    }
    expect([world.channel.peak, world.channel.batches.map(({ length }) => length)]).toEqual([
      3,
      [...Array(9).fill(10), 5],
    ]);
    expect([...world.channel.submitted.values()].every((times) => times === 1)).toBe(true);
    expect([await world.status(0), await world.status(94)]).toEqual(['delivered', 'delivered']);
  });

  test('two workers on one storage never hand the same delivery over twice', async () => {
    const world = await open('at-most-once');
    world.channel.carrier = async (batch) => {
      await settled(3);
      return batch.map(() => delivered);
    };
    world.worker({ batchSize: 7 });
    world.worker({ batchSize: 7 });
    for (let round = 0; round < 10; round++) {
      await world.accept(...Array.from({ length: 20 }, (_, index) => aSend(round * 20 + index)));
      await world.pass(20, 5);
    }
    await world.pass(3000);
    expect([world.channel.submitted.size, new Set(world.channel.submitted.values())]).toEqual([200, new Set([1])]);
    expect(await world.books()).toEqual([]);
  });

  test('two workers do so on a storage that claims without a lock', async () => {
    const world = await open('at-most-once');
    world.storage.outbox.locks = false;
    world.worker();
    world.worker();
    await world.acceptSome(20);
    await world.pass(3000);
    expect(Math.max(...world.channel.submitted.values())).toBe(2);
  });

  test('a worker with nothing to do looks once a poll', async () => {
    const world = await open();
    world.worker({ pollMs: 1000 });
    await world.pass(60_000, 5);
    const { claims, looks } = world.storage.outbox;
    expect(claims.length).toBeGreaterThanOrEqual(55);
    expect(claims.length).toBeLessThanOrEqual(61);
    expect(looks).toBeLessThanOrEqual(61);
  });

  test('deliveries that are due but locked by others do not make a worker spin', async () => {
    const world = await open('at-most-once');
    await world.accept(aSend(1, { lane: 'somebody else’s' }));
    world.worker({ pollMs: 1000 });
    await world.pass(10_000, 5);
    expect(world.storage.outbox.claims.length).toBeLessThanOrEqual(41);
  });

  test('a notification takes effect at once, and several in a row cause one round', async () => {
    const world = await open();
    const worker = world.worker({ pollMs: 60_000 });
    await world.pass(100, 5);
    const before = world.storage.outbox.claims.length;
    await world.acceptSome(1);
    for (let count = 0; count < 100; count++) worker.notify();
    await world.pass(50, 5);
    expect(await world.status()).toBe('delivered');
    expect(world.storage.outbox.claims.length - before).toBeLessThanOrEqual(2);
  });

  test('a retry is due at its own time, not at the next poll', async () => {
    const world = await open();
    world.channel.carrier = async (batch) => batch.map(({ attempt }) => (attempt < 2 ? retry : delivered));
    world.worker({ pollMs: 60_000 });
    await world.acceptSome(1);
    await world.pass(1200, 10);
    expect(await world.status()).toBe('delivered');
  });
});

describe('with the clock set back by an hour', () => {
  test('an unavailable storage is still asked for a settlement once a second', async () => {
    const world = await open('at-most-once');
    const faults = Array.from({ length: 60 }, () => new StorageUnavailableError('The database is away.'));
    world.storage.outbox.settleFaults.push(...faults);
    world.worker();
    await world.acceptSome(1);
    await world.pass(2000);
    world.clock.setBack(3_600_000);
    await world.pass(30_000);
    const { length } = world.storage.outbox.settleFaults;
    expect(length).toBeGreaterThanOrEqual(60 - 33);
    expect(length).toBeLessThan(49);
  });

  test('overdue deliveries are still looked for as often', async () => {
    const world = await open();
    const expire = jest.spyOn(world.storage.outbox, 'expire');
    world.worker({ pollMs: 1000 });
    await world.pass(1000);
    world.clock.setBack(3_600_000);
    expire.mockClear();
    await world.pass(10_000);
    expect(expire.mock.calls.length).toBeGreaterThanOrEqual(8);
  });
});

describe('many overdue deliveries at once', () => {
  /** What is asked of the storage from now on: `claim 3` for three deliveries, `expire 10` for ten. */
  const follow = ({ storage: { outbox } }: DeliveryFixture): string[] => {
    const calls: string[] = [];
    const claim = outbox.claim.bind(outbox);
    const expire = outbox.expire.bind(outbox);
    jest.spyOn(outbox, 'claim').mockImplementation(async (order) => {
      const claimed = await claim(order);
      calls.push(`claim ${claimed.length}`);
      return claimed;
    });
    jest.spyOn(outbox, 'expire').mockImplementation(async (order) => {
      const moved = await expire(order);
      calls.push(`expire ${moved.length}`);
      return moved;
    });
    return calls;
  };

  test.each(['idempotent', 'at-most-once'] as const)(
    'delay nothing that is due, which is claimed first, while one batch expires per round (%s)',
    async (repeat) => {
      const world = await open(repeat);
      world.channel.carrier = async (batch) => batch.map(() => sent);
      const worker = world.worker({ batchSize: 10 });
      await world.acceptSome(95);
      await world.pass(30_000, 500);
      expect([world.channel.submitted.size, await world.status(94)]).toEqual([95, 'sent']);

      world.clock.advance(60_000);
      const calls = follow(world);
      const code = { ...aSend(95), at: world.clock.now() };
      await world.storage.outbox.commit([code], decide);
      worker.notify();
      await world.pass(1000, 50);

      // Each batch but the last finds that there are more, and looks again for due deliveries before it takes the next
      // batch.
      const rounds = [...Array(9).fill(['claim 0', 'expire 10']).flat(), 'claim 0', 'expire 5'];
      expect(calls.slice(0, 20)).toEqual(['claim 1', ...rounds.slice(1)]);
      expect(world.channel.submitted.get(`${messageId(95)}/0`)).toBe(1);
      const statuses = await Promise.all([0, 50, 94].map((index) => world.status(index)));
      expect([...statuses, await world.status(95)]).toEqual(['unknown', 'unknown', 'unknown', 'sent']);
    },
  );

  test('expire even while no further batch may go out', async () => {
    const world = await open();
    world.channel.carrier = async (batch) => batch.map(() => sent);
    const worker = world.worker({ batchSize: 10, concurrency: 1 });
    await world.acceptSome(25);
    await world.pass(5000, 500);
    const gate = new Gate();
    world.channel.carrier = async (batch) => {
      await gate.opened;
      return batch.map(() => delivered);
    };
    await world.accept(aSend(25));
    await world.pass(100, 10);
    world.clock.advance(9000);
    await settled();
    world.clock.advance(60_000);
    worker.notify();
    await world.pass(2000, 100);
    expect([await world.status(0), await world.status(24)]).toEqual(['unknown', 'unknown']);
    gate.open();
  });
});

describe('a channel without lanes', () => {
  test('pauses after each round despite notifications, so deliveries that gather meanwhile share the next round', async () => {
    const world = await open();
    const worker = world.worker();
    await world.pass(100, 5);
    await world.acceptSome(1);
    const before = world.storage.outbox.claims.length;
    for (const index of [1, 2, 3]) {
      await world.accept(aSend(index));
      worker.notify();
      await world.pass(10, 5);
    }
    expect([world.storage.outbox.claims.length, world.channel.batches.length]).toEqual([before, 1]);
    await world.pass(50, 5);
    expect(world.channel.batches.map(({ length }) => length)).toEqual([1, 3]);
  });
});

describe('a channel with lanes', () => {
  const LANES = ['a', 'b', 'c'];

  /** `count` sends, in turn in each lane. */
  const inLanes = (count: number, lanes: readonly string[]) =>
    Array.from({ length: count }, (_, index) => aSend(index, { lane: lanes[index % lanes.length] ?? '' }));

  /** A channel whose lanes are free if none of their messages is on the wire. */
  async function openLanes(lanes: readonly string[], repeat?: RepeatPolicy): Promise<DeliveryFixture> {
    const world = await open(repeat);
    const busy = new Set<string | undefined>();
    world.channel.freeLanes = () => lanes.filter((lane) => !busy.has(lane));
    world.channel.carrier = async (batch) => {
      for (const { lane } of batch) busy.add(lane);
      await settled(2);
      for (const { lane } of batch) busy.delete(lane);
      return batch.map(() => delivered);
    };
    return world;
  }

  test('claims again as soon as a lane is free, so a queue is worked off without a pause, in its order', async () => {
    const world = await openLanes(LANES);
    world.worker({ pollMs: 60_000 });
    await world.accept(...inLanes(90, LANES));
    const before = world.clock.now();
    await settled(600);
    expect(world.clock.now()).toBe(before);
    const order = world.channel.batches.flat().map(({ messageId: id, lane }) => `${lane} ${id}`);
    expect(order).toHaveLength(90);
    for (const lane of LANES) {
      const own = order.filter((each) => each.startsWith(lane));
      expect(own).toEqual(own.toSorted());
    }
    // The lanes go in step: one claim per cycle, one before and one after.
    expect(world.storage.outbox.claims.length).toBeLessThanOrEqual(90 / LANES.length + 2);
  });

  test('sends a new message at once', async () => {
    const world = await openLanes(LANES);
    world.worker({ pollMs: 60_000 });
    for (let index = 0; index < 5; index++) {
      await world.accept(aSend(index, { lane: 'b' }));
      expect(await world.status(index)).toBe('delivered');
    }
  });

  test('gives all other work a turn between two rounds', async () => {
    const world = await openLanes(['a']);
    world.channel.freeLanes = () => ['a'];
    world.channel.carrier = async (batch) => batch.map(() => delivered);
    world.worker({ pollMs: 60_000 });
    const counts = [0];
    const { outbox } = world.storage;
    const accepting = world.accept(...inLanes(100, ['a']));
    for (let turn = 0; turn < 400; turn++) {
      await new Promise(setImmediate);
      counts.push(outbox.claims.length);
    }
    await accepting;
    expect(world.channel.batches).toHaveLength(100);
    const atOnce = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(1);
  });

  test.each(['a head that waits for another attempt', 'a head that another worker holds'] as const)(
    'does not spin on %s',
    async (head) => {
      const world = await openLanes(['a'], 'at-most-once');
      const { clock } = world;
      await world.accept(...inLanes(20, ['a']));
      const now = clock.now();
      const order = { channel: 'sms', lanes: ['a'], limit: 1, now, leaseUntil: now + 100_000, abandoned: false };
      const [first] = await world.storage.outbox.claim(order);
      const waits = { messageId: first?.messageId ?? '', position: 0, attempt: 1, at: now, dueAt: now + 90_000 };
      if (head.includes('attempt')) await world.outbox.settle([{ ...waits, status: 'queued' }]);
      world.storage.outbox.claims = [];
      world.worker({ pollMs: 1000 });
      await settled(200);
      expect(world.storage.outbox.claims.length).toBeLessThanOrEqual(2);
      await world.pass(10_000, 5);
      expect(world.storage.outbox.claims.length).toBeLessThanOrEqual(42);
      expect(world.storage.outbox.looks).toBeLessThanOrEqual(42);
    },
  );

  test('with nothing to do looks once a poll, and without a free lane does not even claim', async () => {
    const world = await openLanes(LANES);
    world.worker({ pollMs: 1000 });
    await world.pass(20_000, 5);
    const { claims } = world.storage.outbox;
    expect(claims.length).toBeGreaterThanOrEqual(18);
    expect(claims.length).toBeLessThanOrEqual(21);
    world.channel.freeLanes = () => [];
    const before = claims.length;
    await world.pass(20_000, 5);
    expect(claims.length).toBe(before);
  });

  test('serves at once if more lanes are free than a batch takes', async () => {
    const many = Array.from({ length: 25 }, (_, index) => `lane ${index}`);
    const world = await openLanes(many);
    await world.accept(...inLanes(25, many));
    world.worker({ batchSize: 10, pollMs: 60_000 });
    await settled(60);
    expect(world.channel.submitted.size).toBe(25);
  });

  test('treats notifications in a row as one round', async () => {
    const world = await openLanes(LANES);
    const worker = world.worker({ pollMs: 60_000 });
    await settled();
    const before = world.storage.outbox.claims.length;
    for (let count = 0; count < 100; count++) worker.notify();
    await settled(50);
    expect(world.storage.outbox.claims.length - before).toBe(1);
  });
});

describe('a transport that never answers', () => {
  test('for one delivery delays no other: that delivery is repeated after each lease, and ends unknown', async () => {
    const world = await open();
    const errors: unknown[] = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void errors.push(String(line)));
    world.channel.carrier = (batch) =>
      batch.some(({ messageId: id }) => id === messageId(0))
        ? new Promise(() => undefined)
        : Promise.resolve(batch.map(() => delivered));
    const { leaseMs, maxAttempts } = world.channel.timing;
    world.worker({ batchSize: 1, concurrency: 1, shutdownMs: 0 });
    await world.acceptSome(3);
    await world.pass(leaseMs - 1000, 500);
    expect([await world.status(0), await world.status(1)]).toEqual(['sending', 'queued']);
    // Abandoned deliveries take turns with the waiting accounts.
    await world.pass((leaseMs + 2000) * 3, 100);
    expect([await world.status(1), await world.status(2)]).toEqual(['delivered', 'delivered']);
    expect(errors[0]).toContain('has not answered within the lease');
    await world.pass((leaseMs + 2000) * maxAttempts, 500);
    expect([await world.status(0), await world.books()]).toEqual(['unknown', []]);
    expect(errors.length).toBeLessThanOrEqual(maxAttempts);
  });
});

describe('a shutdown', () => {
  test('finishes the messages on the wire and takes no new ones', async () => {
    const world = await open();
    const gate = new Gate();
    let aborted = false;
    world.channel.carrier = async (batch, signal) => {
      await gate.opened;
      aborted = signal.aborted;
      return batch.map(() => delivered);
    };
    const worker = world.worker({ batchSize: 5, concurrency: 1 });
    await world.acceptSome(8);
    await world.pass(50, 10);
    let over = false;
    const stopped = worker.stop().then(() => {
      over = true;
    });
    await world.pass(1000);
    expect([over, world.channel.under]).toEqual([false, 1]);
    gate.open();
    await stopped;
    expect([aborted, await world.status(0), await world.status(4)]).toEqual([true, 'delivered', 'delivered']);
    worker.notify();
    await world.pass(5000);
    expect([await world.status(5), world.channel.batches.length]).toEqual(['queued', 1]);
  });

  test('waits for a carrier that hangs no longer than the options say', async () => {
    const world = await open();
    world.channel.carrier = () => new Promise(() => undefined);
    const worker = world.worker({ shutdownMs: 2000 });
    await world.acceptSome(1);
    await world.pass(50, 10);
    let over = false;
    void worker.stop().then(() => {
      over = true;
    });
    await world.pass(1900);
    expect(over).toBe(false);
    await world.pass(200);
    expect([over, await world.status()]).toEqual([true, 'sending']);
  });
});
