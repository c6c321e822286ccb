import { EventLog } from '../../../src/events/event-log.js';
import { MAX_REPLAYS } from '../../../src/webhooks/calls/call-records.js';
import { MAX_ENDPOINTS } from '../../../src/webhooks/endpoints/endpoint-records.js';
import { delivered, logEvents } from '../events/logged-events.js';
import { DOORS, MAX_BYTES, once, play, playCrowd, playLate, type Stage, type Step } from './openapi-scenario.js';

const WEBHOOKS = '/api/v1/webhooks';
const HOOKS = '/sandbox/hooks';

type Asked = Step & { readonly method: string };

const asked = (method: string, path: string, status: number, body?: unknown): Asked => ({ method, path, status, body });

/** The faults of a definition, at creation and at a change. */
const WRONG_DEFINITIONS: readonly object[] = [
  { url: 1 },
  { ordering: 1 },
  { signature: 1 },
  { description: 1 },
  { url: 'http://shop.example.com' },
  { types: ['message.lost'] },
  { types: [] },
  { ordering: 'x' },
  { signature: 'rsa' },
  { batch: 1 },
  { description: 'a'.repeat(257) },
  { batch: { max: 101 } },
  { batch: { wait_ms: 5001 } },
];

const WRONG_WINDOWS: readonly object[] = [
  { after: -1 },
  { since: 1 },
  { until: 1 },
  { since: 'x' },
  { until: 'x' },
  { types: ['message.lost'] },
  { types: [] },
  { only_failed: 1 },
];

const WRONG_PAGES = ['limit=0', 'cursor=a&cursor=b', 'cursor=nonsense!'];

/** The routes of an endpoint. The last one removes it. */
const routesOf = (id: string, sequence: number): readonly Asked[] => [
  asked('GET', `${WEBHOOKS}/${id}`, 200),
  asked('PATCH', `${WEBHOOKS}/${id}`, 200, {}),
  asked('GET', `${WEBHOOKS}/${id}/attempts`, 200),
  ...['rotate', 'replay'].map((what) => asked('POST', `${WEBHOOKS}/${id}/${what}`, 200, {})),
  ...['test', 'disable', 'enable', `attempts/${sequence}/retry`].map((what) =>
    asked('POST', `${WEBHOOKS}/${id}/${what}`, 200),
  ),
  asked('DELETE', `${WEBHOOKS}/${id}`, 200),
];

/** Requests the endpoints of webhooks, and the sandbox's inboxes, until every described answer has come. */
export async function playWebhooks(stage: Stage): Promise<void> {
  const { app, storage } = stage;
  const url = `${app.url}${HOOKS}/shop`;
  const create = asked('POST', WEBHOOKS, 200, { url });
  const log = storage.store(EventLog);
  const { id } = await made(stage, create);
  await logEvents(log, [delivered(app.accountId)]);
  const { last } = await log.state(app.accountId);
  const routes = [create, asked('GET', WEBHOOKS, 200), ...routesOf(id, last)];
  const kept = routes.slice(0, -1);
  for (const { method, path } of routes) for (const step of DOORS(path)) await play(stage, method, step);
  for (const body of [{}, ...WRONG_DEFINITIONS.map((each) => ({ url, ...each }))]) {
    await ask(stage, asked('POST', WEBHOOKS, 400, body));
  }
  for (const body of WRONG_DEFINITIONS) await ask(stage, asked('PATCH', `${WEBHOOKS}/${id}`, 400, body));
  await ask(stage, asked('POST', `${WEBHOOKS}/${id}/rotate`, 400, { keep_hours: 169 }));
  for (const body of WRONG_WINDOWS) await ask(stage, asked('POST', `${WEBHOOKS}/${id}/replay`, 400, body));
  for (const path of [WEBHOOKS, `${WEBHOOKS}/${id}/attempts`]) {
    for (const query of WRONG_PAGES) await ask(stage, asked('GET', `${path}?${query}`, 400));
  }
  for (const query of ['status=a&status=b', 'status=lost']) {
    await ask(stage, asked('GET', `${WEBHOOKS}/${id}/attempts?${query}`, 400));
  }
  for (const step of routesOf('unknown', last)) await ask(stage, { ...step, status: 404 });
  await ask(stage, asked('POST', `${WEBHOOKS}/${id}/attempts/${last + 1000}/retry`, 404));
  for (const step of kept) await ask(stage, step);
  await playKeys(stage, kept);
  await playLimit(stage, create);
  await playReplays(stage, create);
  await playCrowd(stage, routes);
  const headers = { authorization: `Bearer ${app.key}` };
  for (const step of kept.slice(1)) await ask(stage, { ...step, headers });
  for (const step of routes) await playTroubles(stage, step);
  await ask(stage, routes.at(-1) ?? create);
  await ask(stage, { ...create, headers });
  await playHooks(stage);
}

function ask(stage: Stage, { method, ...step }: Asked): Promise<Response> {
  return play(stage, method, step);
}

async function made(stage: Stage, create: Asked): Promise<{ readonly id: string }> {
  return JSON.parse(await (await ask(stage, create)).text());
}

/** Every POST accepts an Idempotency-Key. */
async function playKeys(stage: Stage, steps: readonly Asked[]): Promise<void> {
  for (const step of steps.filter(({ method }) => method === 'POST')) {
    await ask(stage, { ...step, status: 400, headers: once('with a blank') });
    const keyed = { ...step, headers: once('webhook') };
    const first = await holding(stage, step, () => ask(stage, keyed));
    await ask(stage, { ...keyed, status: 409 });
    stage.storage.recover();
    await first.answer;
    await ask(stage, keyed);
    await ask(stage, { ...keyed, body: { url: `${stage.app.url}${HOOKS}/other` }, status: 422 });
  }
}

/** Waits until the request is about to change or read its endpoint. */
async function holding(stage: Stage, { path }: Asked, request: () => Promise<Response>) {
  const what = path === WEBHOOKS ? 'create' : path.endsWith('/rotate') ? 'rotate' : 'find';
  const held = stage.storage.hold(what);
  const answer = request();
  await held;
  return { answer };
}

async function playLimit(stage: Stage, create: Asked): Promise<void> {
  const page = await ask(stage, asked('GET', WEBHOOKS, 200));
  const { items }: { readonly items: readonly object[] } = JSON.parse(await page.text());
  const further: string[] = [];
  for (let count = items.length; count < MAX_ENDPOINTS; count++) further.push((await made(stage, create)).id);
  await ask(stage, { ...create, status: 409 });
  for (const id of further) await ask(stage, asked('DELETE', `${WEBHOOKS}/${id}`, 200));
}

/** An endpoint that is created after an event may be sent that event again. Nothing here sends it. */
async function playReplays(stage: Stage, create: Asked): Promise<void> {
  const { id } = await made(stage, create);
  const replay = asked('POST', `${WEBHOOKS}/${id}/replay`, 200, {});
  for (let count = 0; count < MAX_REPLAYS; count++) await ask(stage, replay);
  await ask(stage, { ...replay, status: 409 });
  await ask(stage, asked('DELETE', `${WEBHOOKS}/${id}`, 200));
}

async function playTroubles(stage: Stage, step: Asked): Promise<void> {
  const { storage, clock } = stage;
  // The key must be looked up anew.
  clock.advance(10_000);
  storage.beUnavailable();
  await ask(stage, { ...step, status: 503 });
  storage.breakDown();
  await ask(stage, { ...step, status: 500 });
  storage.recover();
  clock.advance(10_000);
  await playLate(stage, () => ask(stage, { ...step, status: 504 }));
}

async function playHooks(stage: Stage): Promise<void> {
  const hook = asked('POST', `${HOOKS}/shop`, 204, { type: 'test.ping' });
  await ask(stage, hook);
  await ask(stage, { ...hook, path: `${HOOKS}/a%20b`, status: 400 });
  await ask(stage, { ...hook, status: 413, body: 'x'.repeat(MAX_BYTES + 1) });
  await ask(stage, { ...hook, status: 403, headers: { 'sec-fetch-site': 'cross-site' } });
  const reads = [asked('GET', HOOKS, 200), asked('GET', `${HOOKS}/shop`, 200)];
  for (const step of reads) await ask(stage, step);
  await ask(stage, asked('GET', `${HOOKS}/a%20b`, 400));
  for (const step of [hook, ...reads]) {
    await ask(stage, { ...step, status: 403, headers: { host: 'rebound.example' } });
  }
  await playTroubles(stage, hook);
}
