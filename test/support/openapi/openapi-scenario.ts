import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '../../../src/common/time.js';
import { MessagingReadiness } from '../../../src/http/readiness.js';
import type { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../common/eventually.js';
import type { MessagingApp } from '../mounting/messaging-app.js';
import type { Fetch } from './openapi-fetch.js';
import type { TroubledStorage } from './openapi-troubles.js';

/** The maximum number of recipients of the scenario's host. */
export const MAX_RECIPIENTS = 5;
/** The largest body of the scenario's host, in bytes. */
export const MAX_BYTES = 100_000;
/** The maximum number of concurrent requests of an account of the scenario's host. */
export const IN_FLIGHT = 3;
/** The units with which its account begins. */
export const UNITS = 20;

const NUMBER = '22670000000';
/** The messages that the phone of that number received. */
const RECEIVED = `/sandbox/phones/${NUMBER}/messages`;
const NUMBERS = ['22670000001', '22670000002', '22670000003', '22670000004'];
const SMS = { signature: 'INFOS', content: 'Votre colis est arrivé.', number: [NUMBER] };

/** A step: the request, and the expected status. */
export interface Step {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

/** The answers that every route of ours can give before its handler, except those about the key. */
export const EDGE = (path: string): Step[] => [
  { path, status: 400, body: '{' },
  { path, status: 400, body: [] },
  { path, status: 413, body: 'x'.repeat(MAX_BYTES + 1) },
  { path, status: 415, body: 'text', headers: { 'content-type': 'text/plain' } },
];

/** The same for a route with an API key. */
export const DOORS = (path: string): Step[] => [
  { path, status: 401, headers: { 'x-api-key': 'nobody' } },
  ...EDGE(path),
];

/** Wrong times of a send. */
export const WRONG_TIMES = [{ send_at: 1 }, { send_at: '2026-11-28T08:00:00' }, { valid_for: '60' }, { valid_for: 4 }];

/** Windows that do not exist, or that never open for numbers of the United States. */
export const WRONG_WINDOW = { window: { from: '08:00', to: '08:00' } };
export const CLOSED_WINDOW = { window: { from: '08:00', to: '09:00' } };
export const IN_THE_STATES = '12125550123';

/** Metadata of every wrong shape. */
export const WRONG_METADATA = ['x', { order: 4711 }, { order: '\0' }, { order: 'x'.repeat(512) }];

/** A personal text to one recipient. */
const PERSONAL = { content: 'Bonjour {name}', to: [{ number: NUMBER, vars: { name: 'Awa' } }] };

const SEND = '/api/v1/send/sms';
const QUOTE = '/api/v1/sms/quote';

/** The faults of a text and its numbers, on both routes that take them. */
const TEXTS = (path: string): Step[] => [
  { path, status: 400, body: { ...SMS, content: 1 } },
  { path, status: 400, body: { ...SMS, content: ' ' } },
  { path, status: 400, body: { ...SMS, content: undefined } },
  { path, status: 400, body: { ...SMS, content: 'a\u0000b' } },
  { path, status: 400, body: { ...SMS, content: 'a'.repeat(153 * 255 + 1) } },
  { path, status: 400, body: { ...SMS, number: undefined } },
  { path, status: 400, body: { ...SMS, number: [] } },
  { path, status: 400, body: { ...SMS, number: ['+22670000000'] } },
  { path, status: 400, body: { ...SMS, number: [NUMBER, ...NUMBERS, '22670000009'] } },
];

/** The faults of personal texts, on both routes that take them. */
const PERSONAL_TEXTS = (path: string): Step[] =>
  [
    { to: [{ number: NUMBER }], number: [NUMBER] },
    { to: [] },
    { to: [{ number: NUMBER, vars: [] }] },
    { to: [{ number: NUMBER, vars: { name: 7 } }] },
    { to: [{ number: NUMBER, vars: { name: 'x'.repeat(501) } }] },
    { content: 'Bonjour {', to: [{ number: NUMBER }] },
    { content: 'Bonjour {name}', to: [{ number: NUMBER }] },
    { template: 'both', number: [NUMBER] },
    { template: 1 },
    { template: 'unknown', content: undefined, number: [NUMBER] },
  ].map((fields) => ({
    path,
    status: fields.template === 'unknown' ? 404 : 400,
    body: { ...SMS, number: undefined, ...fields },
  }));

export const once = (key: string) => ({ 'idempotency-key': key });

/** POST requests in order. */
export const POSTS: readonly Step[] = [
  ...DOORS(SEND),
  ...DOORS(QUOTE),
  ...TEXTS(SEND),
  ...TEXTS(QUOTE),
  ...PERSONAL_TEXTS(SEND),
  ...PERSONAL_TEXTS(QUOTE),
  { path: SEND, status: 200, body: SMS },
  { path: SEND, status: 200, body: { ...SMS, number: [NUMBER, NUMBER, '22670990001'], further: 'ignored' } },
  { path: SEND, status: 200, body: SMS, headers: once('one') },
  { path: SEND, status: 200, body: SMS, headers: once('one') },
  { path: SEND, status: 422, body: { ...SMS, content: 'autre' }, headers: once('one') },
  { path: SEND, status: 400, body: SMS, headers: once('with a blank') },
  { path: SEND, status: 400, body: { ...SMS, signature: undefined } },
  { path: SEND, status: 400, body: { ...SMS, signature: 1 } },
  { path: SEND, status: 200, body: { ...SMS, metadata: { order: '4711' } } },
  ...[...WRONG_TIMES, WRONG_WINDOW, { ...CLOSED_WINDOW, number: [IN_THE_STATES] }].map((times) => ({
    path: SEND,
    status: 400,
    body: { ...SMS, ...times },
  })),
  ...WRONG_METADATA.map((metadata) => ({
    path: SEND,
    status: 400,
    body: { ...SMS, metadata },
  })),
  { path: SEND, status: 400, body: { ...SMS, priority: 1 } },
  { path: SEND, status: 400, body: { ...SMS, priority: 'code' } },
  { path: SEND, status: 400, body: { ...SMS, signature: 'Nobody' } },
  { path: SEND, status: 400, body: { ...SMS, content: 'a'.repeat(161 * 5), number: NUMBERS } },
  { path: SEND, status: 200, body: { ...SMS, number: undefined, ...PERSONAL } },
  { path: QUOTE, status: 200, body: PERSONAL },
  { path: QUOTE, status: 200, body: SMS },
  { path: QUOTE, status: 200, body: { content: 'bientôt 😀', number: [NUMBER, '221771234567'] } },
];

const READS = (smsId: string): readonly string[] => [
  '/api/v1/balance',
  '/api/v1/sms',
  `/api/v1/sms/${smsId}`,
  `/api/v1/sms/${smsId}/recipients`,
];

/** GET requests in order. `smsID` names an SMS that the account has sent. */
export const GETS = (smsId: string): readonly Step[] => [
  ...READS(smsId).flatMap(DOORS),
  { path: '/api/v1/balance', status: 200 },
  { path: '/api/v1/sms', status: 200 },
  { path: '/api/v1/sms?limit=1', status: 200 },
  { path: '/api/v1/sms?limit=0', status: 400 },
  { path: '/api/v1/sms?cursor=a&cursor=b', status: 400 },
  { path: '/api/v1/sms?cursor=nonsense!', status: 400 },
  ...[
    `number=${NUMBER}`,
    'status=queued',
    'signature=INFOS',
    'metadata.order=4711',
    'scheduled=true',
    'since=2026-01-01&until=2027-01-01',
  ].map((filter) => ({
    path: `/api/v1/sms?${filter}`,
    status: 200,
  })),
  ...[
    'number=226',
    'status=read',
    'metadata=x',
    'metadata.order=%00',
    `metadata.order=${'x'.repeat(512)}`,
    'since=yesterday',
    'until=2026-02-30',
    'scheduled=no',
  ].map((filter) => ({
    path: `/api/v1/sms?${filter}`,
    status: 400,
  })),
  ...['number', 'status', 'signature', 'metadata.order', 'since', 'until'].map((name) => ({
    path: `/api/v1/sms?${name}=a&${name}=b`,
    status: 400,
  })),
  { path: `/api/v1/sms/${smsId}`, status: 200 },
  { path: '/api/v1/sms/unknown', status: 404 },
  { path: `/api/v1/sms/${smsId}/recipients`, status: 200 },
  { path: `/api/v1/sms/${smsId}/recipients?status=failed&limit=1`, status: 200 },
  { path: '/api/v1/sms/unknown/recipients', status: 404 },
  ...['limit=0', 'cursor=a&cursor=b', 'cursor=nonsense!', 'status=a&status=b', 'status=read'].map((query) => ({
    path: `/api/v1/sms/${smsId}/recipients?${query}`,
    status: 400,
  })),
  { path: `/sandbox/phones/${NUMBER}/messages`, status: 200 },
  { path: '/sandbox/phones/22600000000/messages', status: 200 },
  { path: '/sandbox/phones/+226/messages', status: 400 },
  { path: '/sandbox/phones', status: 200 },
  { path: `/sandbox/phones/${NUMBER}/screen`, status: 200 },
  { path: '/sandbox/phones/+226/screen', status: 400 },
  { path: `${RECEIVED}/unknown/media`, status: 404 },
  { path: '/sandbox/phones/+226/messages/unknown/media', status: 400 },
  { path: '/sandbox/links', status: 200 },
  { path: '/sandbox/events', status: 200 },
  { path: '/sandbox', status: 200 },
  ...[
    ...['', '/events', '/codes', '/links', '/media/photo.jpg', '/phones', `/phones/${NUMBER}/messages`].map(
      (path) => `/sandbox${path}`,
    ),
    `/sandbox/phones/${NUMBER}/screen`,
    `${RECEIVED}/unknown/media`,
  ].map((path) => ({ path, status: 403, headers: { host: 'rebound.example' } })),
];

const CANCELS = (smsId: string): readonly Step[] => [
  ...DOORS(`/api/v1/sms/${smsId}`),
  { path: `/api/v1/sms/${smsId}`, status: 200 },
  { path: '/api/v1/sms/unknown', status: 404 },
  { path: `/api/v1/sms/${smsId}?number=+226`, status: 400 },
  { path: `/api/v1/sms/${smsId}?number=1&number=2`, status: 400 },
];

/** Requests to an SMS that waits, one of whose recipients is in the United States. */
const RESCHEDULES = (smsId: string, send_at: string): readonly Step[] => {
  const path = `/api/v1/sms/${smsId}`;
  return [
    ...DOORS(path),
    { path, status: 200, body: { send_at } },
    { path, status: 200, body: { valid_for: 3600, window: { from: '08:00', to: '20:00', zone: 'UTC' } } },
    { path, status: 200, body: { window: null } },
    ...[...WRONG_TIMES, WRONG_WINDOW, CLOSED_WINDOW].map((body) => ({ path, status: 400, body })),
    { path: '/api/v1/sms/unknown', status: 404, body: {} },
  ];
};

const CALL = '/api/v1/sms/callbacks/carrier';

const APP_CALL = '/api/v1/msgapp/callbacks/app';

/** The answers that a messaging app may get for a call. */
const APP_CALLS: readonly Step[] = [
  { path: APP_CALL, status: 413, body: 'x'.repeat(MAX_BYTES + 1) },
  ...[200, 400, 403].map((status) => ({ path: APP_CALL, status, body: String(status) })),
  { path: `${APP_CALL}s`, status: 404, body: '200' },
  { path: APP_CALL, status: 503, body: 'away' },
  { path: APP_CALL, status: 500, body: 'fault' },
];

const APP_CALLS_BY_GET: readonly Step[] = APP_CALLS.map(({ path, status, body = '' }) =>
  status === 413 ? { path, status, body: 'x' } : { path, status, headers: { 'x-words': String(body) } },
);

/** The answers that a carrier may get for a call. Its contents decide how it ends. */
const CALLS: readonly Step[] = [CALL, `${CALL}/secret`].flatMap((path) => [
  { path, status: 413, body: 'x'.repeat(MAX_BYTES + 1) },
  ...[200, 400, 403, 404, 415].map((status) => ({ path, status, body: String(status) })),
  { path, status: 503, body: 'away' },
  { path, status: 500, body: 'fault' },
]);

/** The same by GET, which has no body: the contents are in a header. */
const CALLS_BY_GET: readonly Step[] = [CALL, `${CALL}/secret`].flatMap((path) => [
  { path, status: 413, body: 'x' },
  ...[200, 400, 403, 404, 415].map((status) => ({ path, status, headers: { 'x-words': String(status) } })),
  { path, status: 503, headers: { 'x-words': 'away' } },
  { path, status: 500, headers: { 'x-words': 'fault' } },
]);

/** One request for each route that reads from the storage. */
const STORED = (smsId: string): readonly (Step & { readonly method: string })[] => [
  { method: 'POST', path: SEND, status: 200, body: SMS },
  { method: 'POST', path: QUOTE, status: 200, body: SMS },
  { method: 'PATCH', path: `/api/v1/sms/${smsId}`, status: 409, body: {} },
  { method: 'DELETE', path: `/api/v1/sms/${smsId}`, status: 200 },
  ...READS(smsId).map((path) => ({ method: 'GET', path, status: 200 })),
];
const PHONES = [
  ...[RECEIVED, `/sandbox/phones/${NUMBER}/screen`, `${RECEIVED}/unknown/media`, '/sandbox/phones'].map((path) => ({
    method: 'GET',
    path,
    status: 200,
  })),
  { method: 'DELETE', path: '/sandbox/phones', status: 204 },
];

/** A host that runs the scenario. */
export interface Stage {
  readonly fetch: Fetch;
  readonly app: MessagingApp;
  readonly storage: TroubledStorage;
  readonly clock: FakeClock;
}

/** The health of a running process, and of one whose shutdown has begun. */
async function playHealth(stage: Stage): Promise<void> {
  await play(stage, 'GET', { path: '/api/v1/health/live', status: 200 });
  await play(stage, 'GET', { path: '/api/v1/health/ready', status: 200 });
  const readiness = stage.app.app.get(MessagingReadiness, { strict: false });
  readiness.end();
  await play(stage, 'GET', { path: '/api/v1/health/ready', status: 503 });
  readiness.onApplicationBootstrap();
}

/** Requests every route until every described answer has come. Rejects at the first that has another status. */
export async function playScenario(stage: Stage): Promise<void> {
  await playHealth(stage);
  for (const step of POSTS) await play(stage, 'POST', step);
  const smsId = await anySms(stage);
  for (const step of GETS(smsId)) await play(stage, 'GET', step);
  await playReschedules(stage);
  for (const step of CANCELS(smsId)) await play(stage, 'DELETE', step);
  await playDeprecatedKey(stage, smsId);
  await playRepeatWhileRunning(stage);
  for (const step of [...CALLS, ...APP_CALLS]) await play(stage, 'POST', step);
  for (const step of [...CALLS_BY_GET, ...APP_CALLS_BY_GET]) await play(stage, 'GET', step);
  await playSlowCalls(stage);
  await playCrowd(stage, STORED(smsId));
  await playTroubles(stage, smsId);
}

/** As many requests of the account as permitted are in flight, and further ones come. */
export async function playCrowd(stage: Stage, steps: readonly (Step & { readonly method: string })[]): Promise<void> {
  const balance = { path: '/api/v1/balance', status: 200 };
  await play(stage, 'GET', balance);
  const held = stage.storage.hold('balance', IN_FLIGHT);
  const crowd = Array.from({ length: IN_FLIGHT }, () => play(stage, 'GET', balance));
  await held;
  for (const { method, ...step } of steps) await play(stage, method, { ...step, status: 429 });
  stage.storage.recover();
  await Promise.all(crowd);
}

/** Takes one step. @throws Error if the answer has another status */
export async function play({ fetch, app }: Stage, method: string, step: Step): Promise<Response> {
  const { path, body, headers = {}, status } = step;
  const answer = await fetch(`${app.url}${path}`, {
    method,
    headers: {
      ...(path.startsWith('/api') && !('authorization' in headers) ? { 'x-api-key': app.key } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (answer.status === status) return answer;
  const asked = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200) ?? ''}`;
  throw new Error(`${asked}: ${answer.status} instead of ${status}: ${(await answer.text()).slice(0, 500)}`);
}

interface SentPage {
  readonly items: readonly { readonly smsID: string }[];
}

async function anySms(stage: Stage): Promise<string> {
  const answer = await play(stage, 'GET', { path: '/api/v1/sms', status: 200 });
  const page: SentPage = JSON.parse(await answer.text());
  const [first] = page.items;
  if (first === undefined) throw new Error('Nothing was sent.');
  return first.smsID;
}

async function playReschedules(stage: Stage): Promise<void> {
  const send_at = new Date(stage.clock.now() + DAY_MS).toISOString();
  const body = { ...SMS, number: [NUMBER, IN_THE_STATES], send_at };
  const answer = await play(stage, 'POST', { path: SEND, status: 200, body });
  const { smsID }: { readonly smsID: string } = JSON.parse(await answer.text());
  for (const step of RESCHEDULES(smsID, send_at)) await play(stage, 'PATCH', step);
  const path = `/api/v1/sms/${smsID}`;
  await play(stage, 'DELETE', { path, status: 200 });
  await play(stage, 'PATCH', { path, status: 409, body: { send_at } });
}

async function playDeprecatedKey(stage: Stage, smsId: string): Promise<void> {
  const headers = { authorization: `Bearer ${stage.app.key}` };
  for (const { method, ...step } of STORED(smsId)) await play(stage, method, { ...step, headers });
  await play(stage, 'GET', { path: '/api/v1/sms/unknown', status: 404, headers });
}

/** The first request waits to be stored while the second one comes. */
async function playRepeatWhileRunning(stage: Stage): Promise<void> {
  await play(stage, 'POST', { path: QUOTE, status: 200, body: SMS });
  const held = stage.storage.hold('commit');
  const step = { path: SEND, body: SMS, headers: once('two') };
  const first = play(stage, 'POST', { ...step, status: 200 });
  await held;
  await play(stage, 'POST', { ...step, status: 409 });
  stage.storage.recover();
  await first;
}

async function playSlowCalls(stage: Stage): Promise<void> {
  for (const [method, step] of [CALL, `${CALL}/secret`, APP_CALL].flatMap((path) => [
    ['POST', { path, status: 504, body: 'slow' }] as const,
    ['GET', { path, status: 504, headers: { 'x-words': 'slow' } }] as const,
  ])) {
    const late = play(stage, method, step);
    await eventually(
      () => Promise.race([late.then(() => true), new Promise((resolve) => setImmediate(resolve))]),
      (done) => done === true,
      { clock: stage.clock, stepMs: 1000 },
    );
  }
}

async function playTroubles(stage: Stage, smsId: string): Promise<void> {
  const { storage, clock } = stage;
  for (const { method, ...step } of [...STORED(smsId), ...PHONES]) {
    // The key must be looked up anew.
    clock.advance(10_000);
    storage.beUnavailable();
    await play(stage, method, { ...step, status: 503 });
    storage.breakDown();
    await play(stage, method, { ...step, status: 500 });
    storage.recover();
    if (step.path.startsWith('/sandbox')) continue;
    clock.advance(10_000);
    await playLate(stage, () => play(stage, method, { ...step, status: 504 }));
  }
}

/** Sends a request while the storage does not answer, and lets the time for an answer pass. */
export async function playLate({ storage, clock }: Stage, ask: () => Promise<Response>): Promise<void> {
  const held = storage.hold();
  const answered = ask().then(() => true);
  await held;
  // The first held read may belong to other work, and the read of the request may come after it.
  for (let isOver = false; !isOver; isOver = await Promise.race([answered, pause(1000, false)])) {
    clock.advance(30_000);
  }
  storage.recover();
}
