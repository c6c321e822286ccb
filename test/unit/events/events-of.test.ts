import { describe, expect, test } from '@jest/globals';
import type { DeliveryStatus } from '../../../src/events/delivery-status.js';
import type { DeliveryTransition } from '../../../src/events/delivery-transition.js';
import { deliveryEvents } from '../../../src/events/events-of.js';
import { refusedTransitions } from '../../../src/outbox/accept/refusals.js';
import type { Send } from '../../../src/outbox/accept/send.js';
import { aMove, aSend, messageId, phone, START } from '../../contract/storage/fixtures.js';

const move = (over: Partial<DeliveryTransition>) => aMove(1, { at: START + 1, ...over });

describe('the events of a delivery', () => {
  test('contain what the account may know, and nothing of the text', () => {
    const moved = move({
      status: 'failed',
      error: '34',
      units: 2,
      refund: 2,
      refundedUnits: 2,
      metadata: { order: '1' },
    });
    const data = {
      id: messageId(1),
      channel: 'sms',
      signature: 'INFOS',
      position: 0,
      number: phone(0),
      status: 'failed',
      error: '34',
      units: 2,
      refunded_units: 2,
      accepted_at: new Date(START).toISOString(),
      metadata: { order: '1' },
    };
    expect(deliveryEvents(moved)).toEqual([{ accountId: 'acc1', at: START + 1, type: 'message.failed', data }]);
  });

  test('have at most 2 KiB, however long the error of a carrier is', () => {
    const [event] = deliveryEvents(move({ status: 'failed', error: '\u0001é'.repeat(2000) }));
    expect(Buffer.byteLength(JSON.stringify(event?.data))).toBeLessThan(2048);
  });

  test.each([
    ['control characters, which JSON escapes', '\u0001'.repeat(31)],
    ['emoji', '😀'.repeat(31)],
    ['letters of other scripts', '语'.repeat(31)],
  ])('have at most 2 KiB with the longest metadata of %s, and say that it is left out', (_name, value) => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [String.fromCharCode(97 + index), value]),
    );
    const completed = { recipients: 3, statuses: { delivered: 2, failed: 1 }, units: 6, refundedUnits: 2 };
    const events = deliveryEvents(move({ status: 'failed', error: '\u0001é'.repeat(2000), metadata, completed }));
    expect(events).toHaveLength(2);
    for (const event of events) {
      expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(2048);
      expect(event.data).toMatchObject({ metadata: null, metadata_omitted: true });
    }
  });

  test('keep metadata that fits, without any remark', () => {
    const metadata = { order: 'x'.repeat(500) };
    const [event] = deliveryEvents(move({ metadata }));
    expect(event?.data).toHaveProperty('metadata', metadata);
    expect(event?.data).not.toHaveProperty('metadata_omitted');
  });

  test('on a messaging app name the linked number instead of a signature', () => {
    const [event] = deliveryEvents(move({ channel: 'wa', sender: '22670000099', status: 'read' }));
    expect(event?.data).toMatchObject({ channel: 'wa', from: '22670000099' });
    expect(event?.data).not.toHaveProperty('signature');
  });

  test.each<[DeliveryStatus, string[]]>([
    ['queued', []],
    ['sending', []],
    ['sent', ['message.sent']],
    ['delivered', ['message.delivered']],
    ['read', ['message.read']],
    ['undelivered', ['message.undelivered']],
    ['failed', ['message.failed']],
    ['unknown', ['message.unknown']],
  ])('that becomes %s are %j', (status, types) => {
    expect(deliveryEvents(move({ status })).map(({ type }) => type)).toEqual(types);
  });

  test('are followed by the totals of the send if the delivery completes it', () => {
    const completed = { recipients: 3, statuses: { delivered: 2, failed: 1 }, units: 6, refundedUnits: 2 };
    const [, send] = deliveryEvents(move({ completed }));
    expect(send).toMatchObject({
      type: 'send.completed',
      data: { recipients_count: 3, statuses: completed.statuses, units: 6, refunded_units: 2, signature: 'INFOS' },
    });
  });

  test('of a send that refuses some recipients are about those; a send that refuses all is complete', () => {
    const [free, refused] = [
      { number: phone(0), units: 1 },
      { number: phone(1), units: 0, refused: 'opted_out' },
    ];
    const typesOf = (...recipients: Send['recipients']) =>
      refusedTransitions(aSend(1, { recipients }))
        .flatMap(deliveryEvents)
        .map(({ type }) => type);
    expect(typesOf(free)).toEqual([]);
    expect(typesOf(free, refused)).toEqual(['message.failed']);
    expect(typesOf(refused, refused)).toEqual(['message.failed', 'message.failed', 'send.completed']);
  });
});
