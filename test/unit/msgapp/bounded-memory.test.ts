import { expect, test } from '@jest/globals';
import { MediaStore } from '../../../src/media/media-store.js';
import { SentMedia } from '../../../src/msgapp/msgapp-channel.js';
import { ContactLimits } from '../../../src/msgapp/sending/message-carrier.js';
import { Receipts } from '../../../src/msgapp/sending/receipts.js';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { linked, MsgappFixture, MsgappProcess } from '../../support/msgapp/msgapp-fixture.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';

const opened = closeAfterEach();

test('the last 20 000 messages with a file are remembered, and the file of a forgotten one is left to the purge', () => {
  const removed: string[] = [];
  const store: Pick<MediaStore, 'remove'> = {
    remove: async (ids) => void removed.push(...ids),
  };
  const media = new SentMedia(Object.assign(Object.create(MediaStore.prototype), store));
  for (let message = 0; message <= 20_000; message++) media.add(`msg-${message}`);
  for (const id of ['msg-0', 'msg-1', 'msg-20000', 'msg-20000']) media.stored(id);
  expect(removed).toEqual(['msg-1', 'msg-20000']);
});

test('only sessions that are still restricted are remembered as restricted', () => {
  const clock = new FakeClock();
  const limits = new ContactLimits(clock);
  for (let session = 0; session < 1000; session++) {
    limits.restrict(`session-${session}`, 60_000);
    clock.advance(1000);
  }
  const kept: unknown = Reflect.get(limits, 'until');
  expect(kept instanceof Map && kept.size).toBe(60);
  expect(limits.refuses('session-999', '1')).toBe(true);
  // Reported again with a shorter time. The longer one stays in effect.
  limits.restrict('session-999', 1000);
  clock.advance(58_999);
  expect(limits.refuses('session-999', '1')).toBe(true);
  clock.advance(1);
  expect(limits.refuses('session-999', '1')).toBe(false);
});

test('a session that has ended is not remembered as restricted', async () => {
  const world = await MsgappFixture.open();
  const process = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  const id = await linked(process, '22670000000');
  await process.transport.last().say({ kind: 'restricted', code: '463', forMs: 3_600_000 });
  const limits: unknown = Reflect.get(process.channel, 'limits');
  const refuses = () => limits instanceof ContactLimits && limits.refuses(id, '22671111111');
  expect(refuses()).toBe(true);
  await process.transport.last().say({ kind: 'ended', end: { next: 'give-up', status: 'banned', reason: 'banned' } });
  await settled();
  expect(refuses()).toBe(false);
});

test('of receipts that come before their message, each state is kept once, however often it comes', async () => {
  const world = await MsgappFixture.open();
  const process = opened(await new MsgappProcess(world, new ScriptedTransport()).start());
  const reported: (readonly DeliveryUpdate[])[] = [];
  const outbox = Object.assign(Object.create(process.outbox), {
    settle: async (settlements: readonly DeliveryUpdate[]) => void reported.push(settlements),
  });
  const { clock, storage } = world;
  const receipts = new Receipts({
    channel: 'wa',
    store: storage.store(OutboxStore),
    outbox,
    clock,
    reportDeadlineMs: 1000,
  });
  for (let time = 0; time < 1000; time++) {
    for (const status of ['sent', 'delivered', 'read'] as const) {
      receipts.take({ kind: 'receipt', reference: 'ref', status, at: time });
    }
    await settled(1);
  }
  await settled();
  receipts.handedOver('ref', { messageId: 'msg', position: 0 });
  receipts.stored({ messageId: 'msg', position: 0 });
  await settled();
  expect(reported.flat().map(({ status }) => status)).toEqual(['sent', 'delivered', 'read']);
});
