import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { EventLog } from '../../../src/events/event-log.js';
import type { StoredEvent } from '../../../src/events/stored-event.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { EventViews, eventId } from '../../../src/webhooks/event-view.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';

const PEPPER = 'a pepper for tests, 0123456789 abcdef';

const EVENT: StoredEvent = {
  sequence: 4711,
  at: Date.UTC(2026, 10, 22, 10),
  type: 'sms.received',
  data: JSON.stringify({
    id: 'x',
    from: '22670000000',
    to: 'INFOS',
    text: 'call 22670000000',
    truncated: false,
    received_at: '2026-11-22T10:00:00.000Z',
  }),
};

async function views(maskNumbers: boolean): Promise<EventViews> {
  const storage = new MemoryStorage();
  await storage.start();
  const log = storage.store(EventLog);
  await storage.stop();
  return new EventViews(log, resolveWebhookSettings({ pepper: PEPPER, maskNumbers }));
}

test('an event has the documented fields in their order', async () => {
  const { text } = (await views(false)).textOf('"demo"', EVENT, 'mark', 4708);
  expect(text).toBe(
    `{"id":"${eventId('demo', 4711, 'mark')}","type":"sms.received","timestamp":"2026-11-22T10:00:00.000Z","sequence":4711,"previous":4708,"account":"demo","data":${EVENT.data}}`,
  );
});

test('numbers are masked if the host asks for it; sender names are not', async () => {
  const { text } = (await views(true)).textOf('"demo"', EVENT, 'mark', undefined);
  expect(JSON.parse(text).data).toMatchObject({ from: '226******00', to: 'INFOS', text: 'call 22670000000' });
});

test('an id belongs to one event', () => {
  expect(eventId('demo', 4711, 'mark')).toMatch(/^evt_[\w-]{22}$/);
  for (let sequence = 1; sequence <= 100; sequence++) {
    const digest = createHash('sha256')
      .update(JSON.stringify(['demo"é', sequence, 'mark']))
      .digest();
    expect(eventId('demo"é', sequence, 'mark')).toBe(`evt_${digest.subarray(0, 16).toString('base64url')}`);
  }
  expect(eventId('demo', 4711, 'mark')).toBe(eventId('demo', 4711, 'mark'));
  // An account may be named like this. If ids joined the parts, two of them would be the same.
  const ids = [
    eventId('demo', 4711, 'mark'),
    eventId('demo4', 711, 'mark'),
    eventId('demo', 4712, 'mark'),
    eventId('demo,4711', 1, 'mark'),
    // The id differs in another database, or in another past of this one.
    eventId('demo', 4711, 'other'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
