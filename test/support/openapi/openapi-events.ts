import { EventLog } from '../../../src/events/event-log.js';
import { MAX_READERS, ReaderSeats } from '../../../src/webhooks/feed/reader-seats.js';
import { delivered, logEvents } from '../events/logged-events.js';
import { DOORS, play, playCrowd, playLate, type Stage, type Step } from './openapi-scenario.js';

const FEED = '/api/v1/events';
const STREAM = `${FEED}/stream`;
const TYPES = '/api/v1/webhooks/types';

const get = (path: string, status: number): Step & { readonly method: string } => ({ method: 'GET', path, status });

/** The wrong values for the place where a reader continues. */
const PLACES = (path: string) => [
  ...['after=x', 'types=a&types=b', 'types=message.lost'].map((query) => get(`${path}?${query}`, 400)),
  get(`${path}?after=0`, 410),
  get(`${path}?after=999999`, 410),
];

/** Requests the feed, the stream and the types of events until every described answer has come. */
export async function playEvents(stage: Stage): Promise<void> {
  const { app, storage, clock } = stage;
  for (const path of [FEED, STREAM, TYPES]) for (const step of DOORS(path)) await play(stage, 'GET', step);
  await play(stage, 'GET', get(TYPES, 200));
  await play(stage, 'GET', get(FEED, 200));
  const log = storage.store(EventLog);
  await logEvents(log, [delivered(app.accountId), delivered(app.accountId)]);
  await play(stage, 'GET', get(`${FEED}?limit=1&wait=1&types=message.delivered`, 200));
  await log.purge(clock.now() + 1_000_000_000, 1);
  await leave(await play(stage, 'GET', get(STREAM, 200)));
  const steps = [...PLACES(FEED), ...PLACES(STREAM), get(`${FEED}?limit=0`, 400), get(`${FEED}?wait=26`, 400)];
  for (const step of steps) await play(stage, 'GET', step);
  const seats = app.app.get(ReaderSeats, { strict: false });
  const taken = Array.from({ length: MAX_READERS }, () => seats.enter(`account ${app.accountId}`));
  await play(stage, 'GET', get(`${FEED}?after=2&wait=1`, 429));
  await play(stage, 'GET', get(STREAM, 429));
  for (const free of taken) free();
  await playCrowd(stage, [get(FEED, 429), get(STREAM, 429), get(TYPES, 429)]);
  await playDeprecatedKey(stage);
  for (const path of [FEED, STREAM, TYPES]) await playTroubles(stage, path);
}

async function playDeprecatedKey(stage: Stage): Promise<void> {
  const headers = { authorization: `Bearer ${stage.app.key}` };
  for (const path of [FEED, STREAM, TYPES]) await leave(await play(stage, 'GET', { ...get(path, 200), headers }));
}

async function playTroubles(stage: Stage, path: string): Promise<void> {
  const { storage, clock } = stage;
  // The key must be looked up anew.
  clock.advance(10_000);
  storage.beUnavailable();
  await play(stage, 'GET', get(path, 503));
  storage.breakDown();
  await play(stage, 'GET', get(path, 500));
  storage.recover();
  if (path === STREAM) return;
  clock.advance(10_000);
  await playLate(stage, () => play(stage, 'GET', get(path, 504)));
}

/** A stream has no end to wait for. */
async function leave(answer: Response): Promise<void> {
  await answer.body?.cancel();
}
