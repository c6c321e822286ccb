import { describe, expect, test } from '@jest/globals';
import { EVENT_TYPES, type EventData, type EventType } from '../../../src/events/event-types.js';
import type { DeliveryData } from '../../../src/events/events.api.js';
import { eventId } from '../../../src/webhooks/event-view.js';
import { eventTypeViews } from '../../../src/webhooks/feed/event-type-views.js';
import { eventFault } from '../../support/events/event-schemas.js';

const AT = '2026-11-22T10:00:00.000Z';
const NUMBER = '22670000000';
const SESSION = { id: 's', channel: 'msgapp', number: NUMBER, status: 'connected', reason: 'linked' } as const;
const POSTING = { id: 'p', units: -5, note: null };
const KEY = { id: 'k', name: null };
const OPT_OUT = { number: NUMBER, signature: 'INFOS', source: 'phone' } as const;
const CODE = { service: 'Boutique', number: NUMBER };
const SIGNATURE = { name: 'INFOS', reason: null };
const SENT = { id: 'm', channel: 'sms', signature: 'INFOS', units: 1, refunded_units: 0, accepted_at: AT };
const delivery = (status: DeliveryData['status']) => ({
  ...SENT,
  position: 0,
  number: NUMBER,
  status,
  error: null,
  metadata: { order: '4711' },
});

const CAMPAIGN = { id: 'c', name: 'Soldes', recipients_count: 2, accepted_count: 1, units: 1 };

/** One event of each type, as the types of the log allow it. */
const SAMPLES: { readonly [T in EventType]: EventData[T] } = {
  'message.sent': delivery('sent'),
  'message.delivered': delivery('delivered'),
  'message.read': { ...delivery('read'), channel: 'msgapp', from: NUMBER },
  'message.undelivered': delivery('undelivered'),
  'message.failed': { ...delivery('failed'), error: 'refused', number: '226******00', metadata: null },
  'message.canceled': { ...delivery('canceled'), refunded_units: 1 },
  'message.unknown': delivery('unknown'),
  'send.completed': { ...SENT, recipients_count: 2, statuses: { delivered: 1, failed: 1 }, metadata: null },
  'sms.received': { id: 'x', from: NUMBER, to: 'INFOS', text: 'STOP', truncated: false, received_at: AT },
  'msgapp.received': {
    id: 'x',
    channel: 'msgapp',
    session: 's',
    contact: 'ct_1',
    from: null,
    kind: 'image',
    text: null,
    received_at: AT,
    media: { mimetype: 'image/jpeg', size: null, file_name: null },
    truncated: false,
    refers_to: { id: null, text: null },
  },
  'contact.identified': { contact: 'ct_1', channel: 'msgapp', to: NUMBER, number: NUMBER, merged: null },
  'optout.added': OPT_OUT,
  'optout.removed': { ...OPT_OUT, source: 'operator' },
  'otp.verified': CODE,
  'otp.locked': { ...CODE, retry_after: 5 },
  'otp.refused': { ...CODE, reason: 'country', retry_after: null },
  'session.connected': SESSION,
  'session.reconnecting': SESSION,
  'session.expired': { ...SESSION, number: null },
  'session.logged_out': SESSION,
  'session.replaced': SESSION,
  'session.banned': SESSION,
  'session.failed': SESSION,
  'session.restricted': { ...SESSION, until: AT },
  'session.notice': SESSION,
  'balance.low': { balance: 4, threshold: 5 },
  'balance.topped_up': { ...POSTING, units: 5, note: 'paid' },
  'balance.adjusted': POSTING,
  'signature.verified': SIGNATURE,
  'signature.rejected': { ...SIGNATURE, reason: 'taken' },
  'key.created': KEY,
  'key.rotated': { ...KEY, replaced: 'o' },
  'key.revoked': KEY,
  'endpoint.disabled': { id: 'e', url: 'https://example.com/hooks', reason: 'gone' },
  'campaign.started': CAMPAIGN,
  'campaign.paused': { ...CAMPAIGN, reason: 'user' },
  'campaign.resumed': CAMPAIGN,
  'campaign.completed': CAMPAIGN,
  'campaign.canceled': CAMPAIGN,
};

const view = (type: string, data: unknown, sequence: number | null = 1) => ({
  id: eventId('demo', 1, 'mark'),
  type,
  timestamp: AT,
  sequence,
  previous: null,
  account: 'demo',
  data,
});

describe('the schemas of events', () => {
  test('exist for every type, in the order of the log', () => {
    const types = eventTypeViews().map(({ type }) => type);
    expect(types).toEqual([...EVENT_TYPES, 'test.ping', 'endpoint.gap']);
  });

  test.each(Object.entries(SAMPLES))('describe %s', (type, data) => {
    expect(eventFault(view(type, data))).toBeUndefined();
    for (const field of Object.keys(data)) {
      const { [field]: _, ...rest }: Record<string, unknown> = { ...data };
      const isOptional = ['signature', 'from'].includes(field) && /^(message|send)\./.test(type);
      expect([field, eventFault(view(type, rest)) === undefined]).toEqual([field, isOptional]);
    }
    expect(eventFault(view(type, { ...data, further: 1 }))).toBeDefined();
    expect(eventFault(view(type, data, null))).toBeDefined();
  });

  test('describe events that go to one endpoint only', () => {
    expect(eventFault(view('test.ping', { endpoint: 'e' }, null))).toBeUndefined();
    expect(eventFault(view('endpoint.gap', { from: 1, to: 2 }, null))).toBeUndefined();
    expect(eventFault(view('endpoint.gap', { from: 1 }, null))).toBeDefined();
  });
});
