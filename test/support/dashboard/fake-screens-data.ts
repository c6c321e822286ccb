import type { Campaign } from '../../../src/client/index.js';
import { FakeAnswer, type FakeRoutes } from './fake-api.js';

const HOSTILE = '<script>window.hacked = 1</script>';
const RIGHT_TO_LEFT = 'مرحبا بالعالم 👩🏽‍💻';

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const list = (items: readonly unknown[]): object => ({ items, next_cursor: null });

/** An SMS as `GET /sms` lists it. */
export function smsOf(id: string, changes: object = {}): object {
  return {
    userID: 'acc_1',
    smsID: id,
    signature: 'PHARMACIE',
    number: ['22670112233'],
    sms_units: 1,
    date_sent: ago(12),
    send_at: ago(-60),
    valid_until: ago(-120),
    window: { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5], zone: 'recipient' },
    content: 'Votre ordonnance est prête.',
    segments: 1,
    recipients_count: 1,
    refunded_units: 0,
    metadata: null,
    recipients: [],
    ...changes,
  };
}

/** A recipient of an SMS. */
export function recipientOf(number: string, changes: object = {}): object {
  return {
    number,
    content: null,
    status: 'delivered',
    units: 1,
    refunded_units: 0,
    error: null,
    updated_at: ago(11),
    due_at: null,
    attempts: [{ at: ago(12), route: 'orange', status: 'delivered', error: null, segments: 1 }],
    attempts_count: 1,
    ...changes,
  };
}

/** A message of a messaging app. */
export function appMessageOf(id: string, changes: object = {}): object {
  return {
    messageID: id,
    from: '22676010203',
    to: '22671223344',
    body: 'Bonjour, votre commande vous attend.',
    media: null,
    status: 'read',
    error: null,
    units: 1,
    refunded_units: 0,
    metadata: { order: '4711' },
    queued_at: ago(30),
    send_at: null,
    valid_until: null,
    window: null,
    due_at: null,
    sent_at: ago(30),
    delivered_at: ago(29),
    read_at: ago(20),
    failed_at: null,
    updated_at: ago(20),
    ...changes,
  };
}

/** An endpoint of webhooks. */
export function endpointOf(id: string, changes: object = {}): object {
  return {
    id,
    url: 'https://caisse.example.com/hooks/messages',
    types: ['*'],
    ordering: 'none',
    batch: { max: 1, wait_ms: 0 },
    signature: 'hmac',
    description: 'Caisse',
    status: 'enabled',
    reason: null,
    last_sequence: 4711,
    failing_since: null,
    rests_until: null,
    created_at: ago(60 * 24 * 12),
    updated_at: ago(60),
    ...changes,
  };
}

/** A log-in hook. */
export function hookOf(id: string, changes: object = {}): object {
  return {
    id,
    url: `https://sms.example.com/api/v1/hooks/${id}`,
    kind: 'supabase',
    name: 'Boutique',
    signature: 'PHARMACIE',
    channel: 'sms',
    limits: { max_segments: 2, daily_units: 5000 },
    mapping: null,
    proof: null,
    status: 'enabled',
    created_at: ago(60 * 24 * 12),
    updated_at: ago(60),
    ...changes,
  };
}

const GENERIC_HOOK = hookOf('h-1', {
  kind: 'generic',
  mapping: { number: '/user/phone', code: `/${HOSTILE}`, id: '/id' },
  proof: { kind: 'hmac', header: 'X-Signature', encoding: 'hex' },
});

/** A call of a log-in hook. */
export function hookCallOf(id: string, changes: object = {}): object {
  return { id, at: ago(3), outcome: 'accepted', number: '226******33', message: 'm-1', test: false, ...changes };
}

/** An event of the log. */
export function eventOf(sequence: number, changes: object = {}): object {
  return {
    id: `evt_${sequence}`,
    type: 'message.delivered',
    timestamp: ago(11),
    sequence,
    previous: sequence - 1,
    account: 'acc_1',
    data: { id: 'm-1', channel: 'sms', position: 0, number: '22670112233', signature: HOSTILE, status: 'delivered' },
    ...changes,
  };
}

/** A linked number. */
export function sessionOf(id: string, changes: object = {}): object {
  return {
    sessionID: id,
    status: 'connected',
    number: '22676010203',
    created_at: ago(60 * 24 * 9),
    connected_at: ago(60 * 24 * 9),
    reason: 'opened',
    ...changes,
  };
}

const MANY = ['22670112233', '22671223344', '2250708091011', '33612345678'];

const FAILED = {
  status: 'failed',
  error: 'refused',
  refunded_units: 1,
  attempts: [
    { at: ago(12), route: 'orange', status: 'retry', error: 'temporary', segments: null },
    { at: ago(11), route: HOSTILE, status: 'failed', error: 'refused', segments: null },
  ],
  attempts_count: 3,
};

/** A campaign that is running. */
function campaignOf(id: string, changes: Partial<Campaign> = {}): Campaign {
  return {
    id,
    name: 'Soldes',
    signature: 'INFOS',
    content: 'Bonjour {name}, nos soldes commencent demain.',
    template: null,
    send_at: null,
    per_minute: 600,
    valid_for: 86_400,
    window: { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5], zone: 'recipient' },
    national: false,
    metadata: null,
    status: 'running',
    pause_reason: null,
    recipients_count: 10_000,
    counts: {
      pending: 4000,
      queued: 1000,
      sent: 20,
      delivered: 4900,
      undelivered: 30,
      failed: 10,
      unknown: 5,
      canceled: 0,
      opted_out: 35,
    },
    units: 6000,
    refunded_units: 10,
    created_at: ago(90),
    started_at: ago(30),
    ended_at: null,
    expected_end: ago(-20),
    ...changes,
  };
}

/** A stream of events that ends after these. */
function streamOf(events: readonly object[]): FakeAnswer {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  return new FakeAnswer(200, `: open\n\n${text}`, { 'Content-Type': 'text/event-stream' });
}

interface QuoteBody {
  readonly content: string;
  readonly number?: readonly string[];
  readonly to?: readonly { readonly number: string }[];
}

/** The price of texts of one segment: a unit in Burkina Faso, three elsewhere. */
function quoteOf({ body: { content, number, to } }: { readonly body: QuoteBody }): object {
  const numbers = number ?? to?.map((each) => each.number) ?? [];
  const priced = numbers.map((each) => ({ number: each, units: each.startsWith('226') ? 1 : 3 }));
  const units = priced.reduce((sum, each) => sum + each.units, 0);
  const personal = {
    distribution: [{ segments: 1, recipients: numbers.length, units }],
    longest: { number: numbers[0], characters: content.length, segments: 1 },
  };
  const size = { encoding: 'GSM-7', segments: 1, characters: content.length, not_gsm7: [] };
  return { ...size, units_per_recipient: priced, sms_units: units, ...(to && personal) };
}

/** Answers for further screens, with data. */
export const FULL_SCREENS: FakeRoutes = {
  'GET campaigns': list([
    campaignOf('c-1'),
    campaignOf('c-2', { name: HOSTILE, status: 'draft', expected_end: null }),
    campaignOf('c-3', { name: RIGHT_TO_LEFT, status: 'paused', pause_reason: 'user', expected_end: null }),
  ]),
  'GET campaigns/c-1': campaignOf('c-1', { content: `Bonjour {name} ${HOSTILE}` }),
  'GET campaigns/c-1/recipients': list([
    { number: '22670112233', status: 'delivered', error: null, smsID: 'm-1', units: 1, refunded_units: 0 },
    { number: '22671223344', status: 'failed', error: 'refused', smsID: 'm-2', units: 1, refunded_units: 1 },
    { number: '2250708091011', status: 'pending', error: null, smsID: null, units: 0, refunded_units: 0 },
  ]),
  'GET sms': list([
    smsOf('m-1', { content: HOSTILE, signature: HOSTILE }),
    smsOf('m-2', {
      content: RIGHT_TO_LEFT,
      number: MANY,
      recipients_count: 240,
      sms_units: 480,
      refunded_units: 3,
      date_sent: ago(95),
    }),
    smsOf('m-3', { content: null, segments: null, date_sent: ago(60 * 24 * 40) }),
    smsOf('m-4', { content: `${'Un texte qui continue longtemps. '.repeat(12)}`, date_sent: ago(60 * 24 * 41) }),
  ]),
  'GET sms/m-2': smsOf('m-2', {
    content: `${RIGHT_TO_LEFT} ${'Un long texte, avec « des guillemets ». '.repeat(3)}`,
    number: MANY,
    recipients_count: 240,
    sms_units: 480,
    refunded_units: 3,
    metadata: { campaign: HOSTILE, [RIGHT_TO_LEFT]: 'x'.repeat(80) },
  }),
  'GET sms/m-2/recipients': list([
    recipientOf('22670112233'),
    recipientOf('2250708091011', FAILED),
    recipientOf('22671223344', { status: 'queued', due_at: ago(-60), attempts: [], attempts_count: 0 }),
    recipientOf('33612345678', { status: 'failed', error: 'opted_out', units: 0, attempts: [], attempts_count: 0 }),
  ]),
  'GET sms/*/recipients': list([recipientOf('22670112233')]),
  'GET msgapp/messages': list([
    appMessageOf('a-1'),
    appMessageOf('a-2', {
      body: null,
      media: { type: 'image', mimetype: 'image/jpeg', size: 4, caption: HOSTILE },
      status: 'queued',
      sent_at: null,
      delivered_at: null,
      read_at: null,
      queued_at: ago(60 * 24 * 2),
    }),
  ]),
  'GET msgapp/messages/a-1': appMessageOf('a-1'),
  'GET signatures': list([
    { name: 'INFOS', status: 'verified', reason: null, created_at: ago(9), decided_at: ago(9), is_default: true },
    { name: 'PHARMACIE', status: 'verified', reason: null, created_at: ago(9), decided_at: ago(8), is_default: false },
  ]),
  'POST sms/quote': quoteOf,
  'GET balance': { balance: 12_480 },
  'GET codes': {
    items: [
      { country: 'BF', sent: 1840, verified: 1502, conversion: 0.816 },
      { country: 'CI', sent: 220, verified: 31, conversion: 0.141 },
      { country: 'unknown', sent: 2, verified: 0, conversion: 0 },
    ],
    refusals: [
      { reason: 'sends', count: 31 },
      { reason: HOSTILE, count: 2 },
    ],
  },
  'GET msgapp/web/status': {
    sessions: [
      sessionOf('s-1'),
      sessionOf('s-2', { number: '22676999888', status: 'reconnecting', reason: 'connection_lost' }),
      sessionOf('s-3', { number: null, status: 'created', reason: null, connected_at: null }),
      sessionOf('s-4', { number: '22676555444', status: 'banned', reason: HOSTILE }),
    ],
  },
  'GET webhooks': list([
    endpointOf('w-1'),
    endpointOf('w-2', { description: HOSTILE, status: 'disabled', reason: 'failures', types: ['optout.added'] }),
    endpointOf('w-3', { description: RIGHT_TO_LEFT, failing_since: ago(50), types: ['message.sent', 'balance.low'] }),
  ]),
  'GET webhooks/w-1': endpointOf('w-1', { description: HOSTILE }),
  'GET webhooks/w-1/attempts': list([
    {
      id: 'c-1',
      sequence: 4711,
      sequences: [4711],
      status: 'delivered',
      http_status: 204,
      error: null,
      ms: 38,
      at: ago(3),
      request: eventOf(4711),
      response: HOSTILE,
    },
    {
      id: 'c-2',
      sequence: 4710,
      sequences: [4710, 4709],
      status: 'failed',
      http_status: null,
      error: 'timeout',
      ms: 15_000,
      at: ago(4),
      request: { events: [eventOf(4709), eventOf(4710)] },
      response: null,
    },
    {
      id: 'c-3',
      sequence: null,
      sequences: [],
      status: 'failed',
      http_status: 500,
      error: null,
      ms: 120,
      at: ago(60),
      request: null,
      response: '{"error":"no"}',
    },
  ]),
  'GET hooks': {
    items: [
      GENERIC_HOOK,
      hookOf('h-2', { name: HOSTILE, status: 'disabled' }),
      hookOf('h-3', { name: RIGHT_TO_LEFT, channel: 'msgapp', kind: 'logto' }),
      hookOf('h-4', { name: null, kind: 'zitadel', limits: { max_segments: 2, daily_units: null } }),
    ],
  },
  'GET hooks/h-1': GENERIC_HOOK,
  'GET hooks/h-1/calls': {
    items: [
      hookCallOf('c-1'),
      hookCallOf('c-2', { test: true }),
      hookCallOf('c-3', { outcome: 'repeated', message: null }),
      hookCallOf('c-4', { outcome: 'unauthorized', number: null, message: null }),
    ],
  },
  'GET events': { items: [eventOf(4700)], next_after: 4711, last: 4711 },
  'GET events/stream': () => streamOf([eventOf(4712), eventOf(4713, { type: 'optout.added' })]),
  'GET manage/carriers': {
    routes: [
      {
        name: 'orange',
        kind: 'smpp',
        state: 'open',
        breaker: 'closed',
        pace: 50,
        submits: 18_204,
        interruptions: { bind: 3, route: 1 },
        last_error: null,
        links: [
          { name: 'smsc-1.example', state: 'up', since: ago(60 * 30), window: 10, in_flight: 3 },
          { name: HOSTILE, state: 'down', since: ago(4), window: 10, in_flight: 0 },
        ],
      },
      {
        name: 'twilio',
        kind: 'http',
        state: 'resting',
        breaker: 'open',
        pace: null,
        submits: 12,
        interruptions: null,
        last_error: `${HOSTILE} ${'very '.repeat(20)}long`,
        links: [],
      },
    ],
    unread_numbers: [{ route: 'orange', count: 3, last: '700***01', last_at: ago(5) }],
  },
  'GET manage/queue': {
    items: [
      { channel: 'sms', priority: 'code', depth: 0, oldest_due: null },
      { channel: 'sms', priority: 'bulk', depth: 100_000, oldest_due: ago(14) },
      { channel: 'msgapp', priority: 'normal', depth: 12, oldest_due: ago(1) },
    ],
    paused: [
      { channel: 'sms', account: null, since: ago(40) },
      { channel: null, account: HOSTILE, since: ago(3) },
    ],
  },
};

/** Answers for the same screens, without data. */
export const EMPTY_SCREENS: FakeRoutes = {
  'GET msgapp/messages': list([]),
  'GET msgapp/web/status': { status: 'disconnected', sessions: [] },
  'GET campaigns': list([]),
  'GET campaigns/c-1': campaignOf('c-1', {
    status: 'paused',
    pause_reason: 'insufficient_balance',
    expected_end: null,
  }),
  'GET campaigns/c-1/recipients': list([]),
  'GET codes': { items: [], refusals: [] },
  'GET webhooks/w-1': endpointOf('w-1'),
  'GET webhooks/w-1/attempts': list([]),
  'GET hooks/h-1': hookOf('h-1'),
  'GET hooks/h-1/calls': { items: [] },
  'GET events': { items: [], next_after: 0, last: 0 },
  'GET events/stream': () => streamOf([]),
  'GET sms/m-2': smsOf('m-2', { recipients_count: 1 }),
  'GET sms/m-2/recipients': list([recipientOf('22670112233')]),
  'GET manage/carriers': { routes: [], unread_numbers: [] },
  'GET manage/queue': { items: [], paused: [] },
};
