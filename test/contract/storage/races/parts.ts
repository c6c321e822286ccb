import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { PartStore } from '../../../../src/sms/receipts/part-store.js';
import { aReceipt, aSend, aTakenSms, messageId, phone, range, recipients, START } from '../fixtures.js';
import { PARKING } from '../sms/parts/parts-fixture.js';
import { places, type StorageFixture } from '../storage-fixture.js';
import { atOnce, type Race } from './race.js';

/** One message to `count` recipients of one unit each, all claimed. */
async function sending(world: StorageFixture, count: number): Promise<void> {
  await world.fund(count);
  await world.accept(aSend(0, { recipients: recipients(count) }));
  await world.claim({ limit: count });
}

const sms = (position: number, carrierIds: readonly string[]) =>
  aTakenSms(0, { position, number: phone(position), carrierIds, at: START + position });

/** Races between the record of an accepted SMS and its receipts. */
export const PART_RACES: Readonly<Record<string, Race>> = {
  'a receipt and the record of its part at once, 40 times: none is lost': async (world, hand) => {
    await sending(world, 40);
    const moved = await atOnce(80, (index) => {
      const position = index >> 1;
      // Pairs run in alternating order, and on two instances if the harness has them.
      const parts = hand((index & 1) + (position & 1)).store(PartStore);
      return (index & 1) === (position >> 1) % 2
        ? parts.receive([aReceipt(`id-${position}`)], PARKING)
        : parts.record([sms(position, [`id-${position}`])], PARKING.now);
    });
    assert.deepEqual(
      new Set(places(moved.flat())),
      new Set(range(40).map((position) => `${messageId(0)}/${position}`)),
    );
    assert.equal(moved.flat().length, 40);
    await world.stand(
      messageId(0),
      range(40).map(() => 'delivered'),
    );
  },

  'one receipt 20 times at once: its SMS moves once': async (world, hand) => {
    await sending(world, 1);
    await world.parts.record([sms(0, ['1'])], PARKING.now);
    const moved = await atOnce(20, (index) =>
      hand(index)
        .store(PartStore)
        .receive([aReceipt('1', { status: 'failed' })], PARKING),
    );
    assert.equal(moved.flat().length, 1);
    await world.holds(1);
  },

  'receipts for all parts of an SMS at once: it is delivered once': async (world, hand) => {
    await sending(world, 1);
    await world.parts.record([sms(0, range(10).map(String))], PARKING.now);
    const moved = await atOnce(10, (index) =>
      hand(index)
        .store(PartStore)
        .receive([aReceipt(String(index))], PARKING),
    );
    assert.deepEqual(places(moved.flat()), [`${messageId(0)}/0`]);
    await world.stand(messageId(0), ['delivered']);
  },

  'receipts for two hand-offs of an SMS over two routes at once, 20 times: each fails once': async (world, hand) => {
    await sending(world, 20);
    const once = range(20).map((position) => sms(position, [`id-${position}`]));
    const twice = once.map((taken) => ({ ...taken, attempt: 2, route: 'other' }));
    await world.parts.record([...once, ...twice], PARKING.now);
    const moved = await atOnce(40, (index) => {
      const route = index % 2 === 0 ? 'link' : 'other';
      return hand(index)
        .store(PartStore)
        .receive([aReceipt(`id-${index >> 1}`, { route, status: 'failed' })], PARKING);
    });
    assert.equal(moved.flat().length, 20);
    await world.stand(
      messageId(0),
      range(20).map(() => 'failed'),
    );
    await world.holds(20);
  },

  'receipts under one id for everything at once: each applies to an SMS of its own': async (world, hand) => {
    await sending(world, 20);
    await world.parts.record(
      range(20).map((position) => sms(position, ['none'])),
      PARKING.now,
    );
    const moved = await atOnce(20, (index) =>
      hand(index)
        .store(PartStore)
        .receive([aReceipt('none')], PARKING),
    );
    assert.equal(new Set(places(moved.flat())).size, 20);
    await world.stand(
      messageId(0),
      range(20).map(() => 'delivered'),
    );
  },

  'a receipt and the record of its part at once, although an older part has its id, 20 times: none is lost': async (
    world,
    hand,
  ) => {
    await sending(world, 40);
    const ids = range(20).map((index) => `id-${index}`);
    await world.parts.record(
      ids.map((id, index) => sms(index, [id])),
      PARKING.now,
    );
    const aDatedReceipt = (id: string, second: number) =>
      aReceipt(id, { at: START + second * SECOND_MS, atByCarrier: true });
    await world.parts.receive(
      ids.map((id) => aDatedReceipt(id, 3)),
      PARKING,
    );
    const moved = await atOnce(40, (index) => {
      const pair = index >> 1;
      // Pairs run in alternating order, and on two instances if the harness has them.
      const parts = hand((index & 1) + (pair & 1)).store(PartStore);
      return (index & 1) === (pair >> 1) % 2
        ? parts.receive([aDatedReceipt(`id-${pair}`, 4)], PARKING)
        : parts.record([sms(20 + pair, [`id-${pair}`])], PARKING.now);
    });
    assert.equal(moved.flat().length, 20);
    await world.stand(
      messageId(0),
      range(40).map(() => 'delivered'),
    );
  },
};
