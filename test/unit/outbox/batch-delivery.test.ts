import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import type { StoreEarlyResults } from '../../../src/outbox/channel.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { DeliveryFixture, Gate } from '../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

const DELIVERED: DeliveryResult = { kind: 'sent', final: 'delivered' };
const REFUSED: DeliveryResult = { kind: 'refused', error: 'no' };

describe('an early result', () => {
  /** Three sends in one batch on the wire. The batch ends when the gate opens. */
  async function underWay(
    atTheEnd: (batch: readonly Delivery[]) => readonly DeliveryResult[] = (b) => b.map(() => DELIVERED),
  ) {
    const world = opened(await DeliveryFixture.open('at-most-once'));
    const gate = new Gate();
    let batch: readonly Delivery[] = [];
    let early: StoreEarlyResults = async () => undefined;
    world.channel.carrier = async (given, _signal, report) => {
      // A second batch holds what came back. These tests are not about it.
      if (batch.length > 0) return given.map(() => DELIVERED);
      [batch, early] = [given, report];
      await gate.opened;
      return atTheEnd(given);
    };
    await world.acceptSome(3);
    world.worker();
    await world.pass(100);
    const report = async (...answers: readonly (DeliveryResult | undefined)[]) => {
      void early(new Map(answers.flatMap((answer, index) => (answer ? [[batch[index] as Delivery, answer]] : []))));
      await world.pass(10, 10);
    };
    const end = async () => {
      gate.open();
      await world.pass(100);
    };
    const statuses = () => Promise.all([0, 1, 2].map((index) => world.status(index)));
    return { world, report, end, statuses, batch, early };
  }

  test('is stored while the others are still under way', async () => {
    const { world, report, end, statuses } = await underWay();
    await report(undefined, DELIVERED, REFUSED);
    expect([await statuses(), await world.balance()]).toEqual([['sending', 'delivered', 'failed'], 998]);
    await end();
    expect([await statuses(), await world.balance()]).toEqual([['delivered', 'delivered', 'failed'], 998]);
    expect([await world.books(), world.channel.batches.length]).toEqual([[], 1]);
  });

  test('counts once: neither a second answer nor the list at the end changes it', async () => {
    const { world, report, end, statuses } = await underWay((batch) => batch.map(() => REFUSED));
    await report({ kind: 'sent' });
    await report(REFUSED);
    await end();
    expect([await statuses(), await world.balance()]).toEqual([['sent', 'failed', 'failed'], 999]);
  });

  test('may ask for another attempt, which is made before the others have finished', async () => {
    const { world, report, end, statuses } = await underWay();
    await report({ kind: 'retry', error: 'busy' });
    expect(await statuses()).toEqual(['queued', 'sending', 'sending']);
    await world.pass(3000);
    expect(await statuses()).toEqual(['delivered', 'sending', 'sending']);
    await end();
    expect([await statuses(), await world.books()]).toEqual([['delivered', 'delivered', 'delivered'], []]);
  });

  test('stands if the channel throws afterwards', async () => {
    const { report, end, statuses } = await underWay(() => {
      throw new Error('the line is cut');
    });
    await report(DELIVERED);
    await end();
    expect(await statuses()).toEqual(['delivered', 'unknown', 'unknown']);
  });

  test('is checked like the others: a malformed result leaves its delivery unknown', async () => {
    const { report, statuses } = await underWay();
    await report(JSON.parse('{"kind":"queued"}'), DELIVERED);
    expect(await statuses()).toEqual(['unknown', 'delivered', 'sending']);
  });

  test('is ignored if it is for no delivery of the batch, or comes after the end of the batch', async () => {
    const { world, report, end, statuses, batch, early } = await underWay();
    void early(new Map(batch.map((delivery) => [{ ...delivery }, REFUSED])));
    await world.pass(10, 10);
    expect(await statuses()).toEqual(['sending', 'sending', 'sending']);
    await end();
    await report(REFUSED, REFUSED, REFUSED);
    expect([await statuses(), await world.balance()]).toEqual([['delivered', 'delivered', 'delivered'], 997]);
  });

  test('is stored a moment later if the storage is unavailable, and delays nobody', async () => {
    const { world, report, end, statuses } = await underWay();
    world.storage.outbox.settleFaults.push(new StorageUnavailableError('gone'));
    await report(DELIVERED);
    await report(undefined, DELIVERED);
    expect(await statuses()).toEqual(['sending', 'delivered', 'sending']);
    await end();
    expect(await statuses()).toEqual(['sending', 'delivered', 'delivered']);
    await world.pass(1000);
    expect(await statuses()).toEqual(['delivered', 'delivered', 'delivered']);
  });
});

test('after the host was down for long, deliveries that only waited behind others still get their turn', async () => {
  const world = opened(await DeliveryFixture.open('at-most-once'));
  await world.acceptSome(3);
  await world.pass(world.channel.timing.maxAwayMs * 2, 600_000);
  world.channel.carrier = async (batch) =>
    batch.map((_, index) =>
      index === 0 ? DELIVERED : { kind: 'postponed', error: 'busy', until: world.clock.now() + 1000 },
    );
  world.worker();
  await world.pass(10_000);
  expect(await Promise.all([0, 1, 2].map((index) => world.status(index)))).toEqual(Array(3).fill('delivered'));
});
