import { expect, test } from '@jest/globals';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { Receipts } from '../../../src/msgapp/sending/receipts.js';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

const PLACE = { messageId: 'm', position: 0 };

/** Receipts, and the changes that they report. */
async function open() {
  const store = (await SqliteMemory.open()).store(OutboxStore);
  const clock = new FakeClock();
  const reported: DeliveryUpdate[] = [];
  store.settle = async (settlements) => {
    reported.push(...settlements);
    return [];
  };
  const outbox = new Outbox(store, new LocalNotifier(), new MessagingEvents());
  const receipts = new Receipts({ channel: 'msgapp', store, outbox, clock, reportDeadlineMs: 1000 });
  const take = (reference: string, status: 'sent' | 'delivered' | 'read', at: number) =>
    receipts.take({ kind: 'receipt', reference, status, at });
  const handOff = async (reference: string) => {
    receipts.handedOver(reference, PLACE);
    receipts.stored(PLACE);
    await settled();
  };
  return { clock, take, handOff, reported };
}

test('of receipts that wait for their message, the first of each kind is kept, however often it is repeated', async () => {
  const { take, handOff, reported } = await open();
  for (let at = 1; at <= 3000; at++) {
    take('ref', 'delivered', at);
    take('ref', 'read', at);
    if (at % 100 === 0) await settled();
  }
  await settled();
  await handOff('ref');
  expect(reported.map(({ status, at }) => [status, at])).toEqual([
    ['delivered', 1],
    ['read', 1],
  ]);
});

test('waiting receipts are forgotten a minute after the first of them, and later ones wait anew', async () => {
  const { clock, take, handOff, reported } = await open();
  take('one', 'delivered', 1);
  take('two', 'delivered', 1);
  await settled();
  clock.advance(60_000);
  take('two', 'read', 2);
  await settled();
  await handOff('one');
  await handOff('two');
  expect(reported.map(({ reference, status }) => [reference, status])).toEqual([['two', 'read']]);
});
