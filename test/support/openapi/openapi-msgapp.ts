import { LedgerService } from '../../../src/billing/ledger-service.js';
import type { ReceivedMessage } from '../../../src/events/events.api.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { until } from '../common/until.js';
import { FileServer } from '../http/file-server.js';
import { playCap } from './openapi-limits.js';
import {
  CLOSED_WINDOW,
  DOORS,
  EDGE,
  IN_THE_STATES,
  once,
  play,
  playCrowd,
  playLate,
  type Stage,
  type Step,
  WRONG_METADATA,
  WRONG_TIMES,
  WRONG_WINDOW,
} from './openapi-scenario.js';

const ROOT = '/api/v1/msgapp';
const TEXT = `${ROOT}/send/text`;
const MEDIA = `${ROOT}/send/media`;
const STATUS = `${ROOT}/web/status`;
const LIST = `${ROOT}/messages`;
const SENDER = '22670000100';
const LINKED = '22670000101';
const SCAN = `/sandbox/phones/${SENDER}/scan`;

const REPLY = '/sandbox/phones/22670000000/messages';

const reply = { to: 'INFOS', text: 'Bonjour' };
const text = { to: '22670000000', body: 'Votre colis est arrivé.' };

const LISTED = ['limit=1', `to=${text.to}`, `from=${SENDER}`, 'status=read', 'since=2026-01-01', 'metadata.order=4711'];
const REFUSED_LISTS = [
  'limit=0',
  'cursor=nonsense!',
  'to=226',
  'from=226',
  'status=sleeping',
  'since=yesterday',
  'until=2026-02-30',
  'scheduled=no',
  ...['cursor', 'to', 'from', 'status', 'since', 'until', 'metadata.order'].map((name) => `${name}=a&${name}=b`),
  'metadata=x',
  'metadata.order=%00',
  `metadata.order=${'x'.repeat(512)}`,
];

interface Code {
  readonly qr: string;
  readonly sessionID: string;
}

interface Asked extends Step {
  readonly method: string;
}

const post = (path: string, status: number, body?: unknown, headers: Step['headers'] = {}): Asked => ({
  method: 'POST',
  path,
  status,
  body,
  headers,
});
const get = (path: string, status: number): Asked => ({ method: 'GET', path, status });
const remove = (path: string, status: number): Asked => ({ method: 'DELETE', path, status });

/** Requests every route of a messaging-app channel, and the sandbox's scan, until every described answer has come. */
export async function playMsgapp(stage: Stage): Promise<void> {
  const files = await FileServer.open();
  try {
    await playChannel(stage, { to: text.to, mediaUrl: files.url('/photo.png'), caption: 'Le colis' });
  } finally {
    await files.close();
  }
}

async function playChannel(stage: Stage, media: object): Promise<void> {
  await all(stage, [get(STATUS, 200), post(TEXT, 409, text), post(MEDIA, 409, media)]);
  const refused = [
    ...[{ phone_number_id: 1 }, { access_token: 1 }, { phone_number_id: 'invalid' }],
    ...[{ access_token: 'missing' }, { access_token: 'refused' }],
  ];
  await all(
    stage,
    refused.map((body) => post(`${ROOT}/web/connect`, 400, body)),
  );
  const sessionId = await playLinking(stage);
  await all(stage, [...sends(TEXT, text), ...sends(MEDIA, media), ...REFUSED_FIELDS(media)]);
  await playReconnecting(stage, [post(TEXT, 409, text), post(MEDIA, 409, media)]);
  await playCap(stage, [post(TEXT, 429, text), post(MEDIA, 429, media)]);
  await all(stage, [get(STATUS, 200), get(`${STATUS}?sessionID=${sessionId}`, 200)]);
  await all(stage, [get(`${STATUS}?sessionID=a&sessionID=b`, 400), get(`${STATUS}?sessionID=unknown`, 404)]);
  const sent = await play(stage, 'POST', { path: TEXT, status: 200, body: text });
  const message = `${ROOT}/messages/${JSON.parse(await sent.text()).messageID}`;
  await all(stage, [get(message, 200), get(`${ROOT}/messages/unknown`, 404), remove(`${ROOT}/web/unknown`, 404)]);
  await all(stage, [get(LIST, 200), ...LISTED.map((query) => get(`${LIST}?${query}`, 200))]);
  await all(
    stage,
    REFUSED_LISTS.map((query) => get(`${LIST}?${query}`, 400)),
  );
  for (const path of [TEXT, MEDIA, `${ROOT}/web/connect`]) await doors(stage, 'POST', DOORS(path));
  const { id, file, contact } = await playReplies(stage);
  for (const [path, body] of [
    [TEXT, text],
    [MEDIA, media],
  ] as const) {
    await all(stage, [post(path, 404, { ...body, to: 'ct_unknown' })]);
    await all(stage, [post(path, 409, { ...body, to: contact, from: '22670000109' })]);
    await all(stage, [post(path, 404, { ...body, reply_to: 'unknown' }), post(path, 400, { ...body, reply_to: 1 })]);
    await all(stage, [post(path, 400, { ...body, to: '22670000999', reply_to: id })]);
  }
  for (const path of [STATUS, LIST, message, file]) await doors(stage, 'GET', DOORS(path));
  const acts = await playActs(stage, id);
  for (const { path } of acts) await doors(stage, 'POST', DOORS(path));
  await doors(stage, 'DELETE', DOORS(`${ROOT}/web/${sessionId}`));
  await doors(stage, 'DELETE', DOORS(message));
  await all(stage, [remove(message, 200), remove(`${ROOT}/messages/unknown`, 404)]);
  await all(stage, [remove(`${message}?number=+226`, 400), remove(`${message}?number=1&number=2`, 400)]);
  await playPhones(stage);
  await playRepeats(stage, [post(TEXT, 200, text), post(MEDIA, 200, media)]);
  await playCrowd(stage, [
    get(STATUS, 200),
    get(LIST, 200),
    get(message, 200),
    get(file, 200),
    post(TEXT, 200, text),
    post(MEDIA, 200, media),
    post(`${ROOT}/web/connect`, 200),
    ...acts,
    remove(message, 200),
    remove(`${ROOT}/web/${sessionId}`, 200),
  ]);
  await playTroubles(stage, [
    get(STATUS, 200),
    get(LIST, 200),
    get(message, 200),
    get(file, 200),
    post(REPLY, 204, reply),
    post(TEXT, 200, text),
    post(MEDIA, 200, media),
    post(`${ROOT}/web/connect`, 200),
    ...acts,
    remove(message, 200),
    remove(`${ROOT}/web/${sessionId}`, 200),
  ]);
  await playEmptyAccount(stage, [post(TEXT, 400, text), post(MEDIA, 400, media)]);
  await play(stage, 'DELETE', { path: `${ROOT}/web/${sessionId}`, status: 200 });
  await play(stage, 'GET', { path: file, status: 410 });
  await all(
    stage,
    acts.map((act) => ({ ...act, status: 409 })),
  );
  await playTooManySessions(stage);
}

/** Cuts the connections of the linked numbers, and sends requests before they reconnect. */
async function playReconnecting(stage: Stage, steps: readonly Asked[]): Promise<void> {
  const linked = stage.app.app
    .get(SessionManager, { strict: false })
    .sessions.filter(({ status }) => status === 'connected');
  for (const session of linked) if (session.link) session.drop(session.link, 'cut');
  await until(async () => linked.every(({ status }) => status === 'reconnecting'));
  await all(stage, steps);
  // The second time it waits for up to four seconds.
  stage.clock.advance(5000);
  await until(async () => linked.every(({ link }) => link !== undefined));
}

/** Requests sessions until as many wait as may wait. */
async function playTooManySessions(stage: Stage): Promise<void> {
  const path = `${ROOT}/web/connect`;
  const status = await play(stage, 'GET', { path: STATUS, status: 200 });
  const { sessions }: { sessions: readonly { status: string }[] } = JSON.parse(await status.text());
  const capacity = 10 - sessions.filter((session) => session.status === 'created').length;
  await all(stage, [...Array.from({ length: capacity }, () => post(path, 200)), post(path, 429)]);
}

/** Shows codes in every way and links a number. Returns the session. */
async function playLinking(stage: Stage): Promise<string> {
  await all(
    stage,
    ['photo.jpg', 'clip.mp4', 'document.pdf', 'voice.ogg'].map((name) => get(`/sandbox/media/${name}`, 200)),
  );
  await all(stage, [get('/sandbox/media/passwd', 404), get('/sandbox/codes', 200)]);
  const { code, qrToken } = await shownCode(stage);
  const qr = `${ROOT}/web/qr/${qrToken}`;
  await all(stage, [get('/sandbox/codes', 200), get(qr, 200), get(`${qr}/image`, 200)]);
  await all(stage, [get(`${ROOT}/web/qr/unknown`, 404), get(`${ROOT}/web/qr/unknown/image`, 404)]);
  for (const path of [qr, `${qr}/image`]) await doors(stage, 'GET', EDGE(path));
  await doors(stage, 'POST', EDGE(SCAN));
  await all(stage, [
    post('/sandbox/phones/+226/scan', 400, { qr: code.qr }),
    post(SCAN, 400, {}),
    post(SCAN, 400, { qr: 1 }),
    post(SCAN, 404, { qr: 'unknown' }),
    post(SCAN, 403, { qr: 'unknown' }, { host: 'rebound.example' }),
  ]);
  stage.storage.beUnavailable();
  await all(stage, [post(SCAN, 503, { qr: code.qr })]);
  stage.storage.recover();
  const [shown] = await codes(stage);
  await playLate(stage, () => play(stage, 'POST', { path: SCAN, status: 504, body: { qr: shown?.qr } }));
  const second = await shownCode(stage, shown?.sessionID);
  await all(stage, [post(`/sandbox/phones/${LINKED}/scan`, 204, { qr: second.code.qr })]);
  return second.code.sessionID;
}

/** A message of a phone: where its file is, and the phone's contact. */
interface Written extends Pick<ReceivedMessage, 'id' | 'contact'> {
  readonly file: string;
}

/** Makes a phone write in every way. Returns a message with a file. */
async function playReplies(stage: Stage): Promise<Written> {
  const received: ReceivedMessage[] = [];
  const events = stage.app.app.get(MessagingEvents, { strict: false });
  const stop = events.on('msgapp.received', ({ data }) => void received.push(data));
  await doors(stage, 'POST', EDGE(REPLY));
  await all(stage, [
    post(REPLY, 204, reply),
    post(REPLY, 204, { ...reply, to: LINKED, channel: 'msgapp', media: 'photo.jpg', hidden: true }),
    post(REPLY, 400, {}),
    post(REPLY, 400, { to: 1 }),
    post(REPLY, 400, { to: 'INFOS' }),
    post('/sandbox/phones/+226/messages', 400, reply),
    ...['channel', 'text', 'media', 'replyTo', 'reaction', 'hidden'].map((field) =>
      post(REPLY, 400, { ...reply, [field]: 1 }),
    ),
    post(REPLY, 403, reply, { host: 'rebound.example' }),
    post(REPLY, 404, { ...reply, to: LINKED, channel: 'msgapp', media: 'passwd' }),
    post(REPLY, 409, { ...reply, channel: 'msgapp' }),
  ]);
  stop();
  await play(stage, 'GET', { path: `${ROOT}/received/unknown/media`, status: 404 });
  const [{ id, contact }] = received as [ReceivedMessage];
  const file = `${ROOT}/received/${id}/media`;
  await play(stage, 'GET', { path: file, status: 200 });
  return { id, file, contact };
}

/** Does to a received message all that can be done. Returns the requests that succeed. */
async function playActs(stage: Stage, id: string): Promise<readonly Asked[]> {
  const [seen, react] = [`${ROOT}/received/${id}/seen`, `${ROOT}/received/${id}/react`];
  const acts = [post(seen, 200), post(react, 200, { emoji: '👍' })];
  await all(stage, [...acts, post(`${ROOT}/received/unknown/seen`, 404)]);
  await all(stage, [post(`${ROOT}/received/unknown/react`, 404, { emoji: '👍' }), post(react, 400, {})]);
  await all(stage, [post(react, 400, { emoji: 1 }), post(react, 400, { emoji: 'ok' })]);
  const transport = stage.app.app.get(MsgappTransport, { strict: false });
  Object.assign(transport, { acts: [] });
  await all(
    stage,
    acts.map((act) => ({ ...act, status: 409 })),
  );
  Object.assign(transport, { acts: ['seen', 'react'] });
  await playReconnecting(
    stage,
    acts.map((act) => ({ ...act, status: 409 })),
  );
  return acts;
}

/** Fetches a file that a phone received, and removes everything. */
async function playPhones(stage: Stage): Promise<void> {
  await play(stage, 'GET', { path: await receivedFile(stage), status: 200 });
  const clear = { path: '/sandbox/phones', status: 204 };
  await play(stage, 'DELETE', { ...clear, status: 403, headers: { host: 'rebound.example' } });
  await play(stage, 'DELETE', { ...clear, status: 403, headers: { origin: 'https://other.example' } });
  await play(stage, 'DELETE', clear);
}

async function receivedFile(stage: Stage): Promise<string> {
  for (;;) {
    const answer = await play(stage, 'GET', { path: '/sandbox/phones', status: 200 });
    const messages: readonly { to: string; messageID: string; media: { kept: boolean } | null }[] = JSON.parse(
      await answer.text(),
    );
    const found = messages.find(({ media }) => media?.kept);
    if (found) return `/sandbox/phones/${found.to}/messages/${found.messageID}/media`;
  }
}

/** A session whose code can be seen, but not one that is about to be linked. */
async function shownCode(stage: Stage, but?: string): Promise<{ code: Code; qrToken: string }> {
  const answer = await play(stage, 'POST', { path: `${ROOT}/web/connect`, status: 200 });
  const { sessionID, qrToken } = JSON.parse(await answer.text());
  for (;;) {
    const code = (await codes(stage)).find((each) => each.sessionID === sessionID && each.sessionID !== but);
    if (code) return { code, qrToken };
  }
}

async function codes(stage: Stage): Promise<readonly Code[]> {
  return JSON.parse(await (await play(stage, 'GET', { path: '/sandbox/codes', status: 200 })).text());
}

const sends = (path: string, body: object): Asked[] => [
  post(path, 200, body),
  post(path, 200, body, once(`${path}-one`)),
  post(path, 200, body, once(`${path}-one`)),
  post(path, 422, { ...body, to: '22670000009' }, once(`${path}-one`)),
  post(path, 400, body, once('with a blank')),
  post(path, 400, { ...body, to: undefined }),
  post(path, 400, { ...body, to: 1 }),
  post(path, 400, { ...body, to: '+22670000000' }),
  post(path, 400, { ...body, from: 1 }),
  post(path, 400, { ...body, priority: 1 }),
  post(path, 400, { ...body, priority: 'code' }),
  ...WRONG_METADATA.map((metadata) => post(path, 400, { ...body, metadata })),
  ...[...WRONG_TIMES, WRONG_WINDOW, { ...CLOSED_WINDOW, to: IN_THE_STATES }].map((times) =>
    post(path, 400, { ...body, ...times }),
  ),
  post(path, 409, { ...body, from: '22670000109' }),
];

const REFUSED_FIELDS = (media: object): Asked[] => [
  post(TEXT, 400, { ...text, body: 1 }),
  post(TEXT, 400, { ...text, body: ' ' }),
  post(TEXT, 400, { ...text, body: '\0' }),
  post(MEDIA, 400, { ...media, mediaUrl: undefined }),
  post(MEDIA, 400, { ...media, mediaUrl: 1 }),
  post(MEDIA, 400, { ...media, mediaUrl: 'http://192.0.2.1/photo.png' }),
  post(MEDIA, 400, { ...media, mediaType: 1 }),
  post(MEDIA, 400, { ...media, mediaType: 'sticker' }),
  post(MEDIA, 400, { ...media, caption: 1 }),
  post(MEDIA, 400, { ...media, caption: '\0' }),
];

/** The first request waits to be stored while the second one comes. */
async function playRepeats(stage: Stage, steps: readonly Asked[]): Promise<void> {
  for (const step of steps) {
    const repeated = { ...step, headers: once(`${step.path}-two`) };
    const held = stage.storage.hold('commit');
    const first = play(stage, step.method, repeated);
    await held;
    await play(stage, step.method, { ...repeated, status: 409 });
    stage.storage.recover();
    await first;
  }
}

async function playTroubles(stage: Stage, steps: readonly Asked[]): Promise<void> {
  const { storage, clock } = stage;
  for (const { method, ...step } of steps) {
    // The key must be looked up anew.
    clock.advance(10_000);
    storage.beUnavailable();
    await play(stage, method, { ...step, status: 503 });
    storage.breakDown();
    await play(stage, method, { ...step, status: 500 });
    storage.recover();
    clock.advance(10_000);
    await playLate(stage, () => play(stage, method, { ...step, status: 504 }));
  }
}

async function playEmptyAccount(stage: Stage, steps: readonly Asked[]): Promise<void> {
  const ledger = stage.app.app.get(LedgerService, { strict: false });
  const units = (await ledger.balance(stage.app.accountId)) ?? 0;
  if (units > 0) await ledger.adjust(stage.app.accountId, -units);
  await all(stage, steps);
}

async function all(stage: Stage, steps: readonly Asked[]): Promise<void> {
  for (const { method, ...step } of steps) await play(stage, method, step);
}

async function doors(stage: Stage, method: string, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await play(stage, method, step);
}
