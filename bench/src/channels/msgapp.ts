import { load, sqliteUrl, startTarget, type Target } from '../target.js';
import { type Versus, versus } from '../versus.js';

/** The rates of texts, compared with the bare validated route. */
export interface MsgappRatios {
  /** The number writes at a person's pace, as real numbers do, so accepted messages wait. */
  readonly accepting: Versus;
  /** The number writes as fast as it can, to the sandbox's phones, in the same process. */
  readonly inProcess: Versus;
}

const PATH = '/api/v1/msgapp/send/text';

/**
 * Measures `POST /msgapp/send/text` from one linked number on Express and SQLite, and compares it with the bare
 * validated route.
 */
export async function benchMsgapp(turns: number): Promise<MsgappRatios> {
  const order = { kind: 'msgapp', adapter: 'express' };
  return { accepting: await against({ ...order, perMinute: 20 }, turns), inProcess: await against(order, turns) };
}

async function against(order: object, turns: number): Promise<Versus> {
  const place = sqliteUrl();
  const bare = await startTarget({ kind: 'bare', adapter: 'express' });
  const target = await startTarget({ ...order, url: place.url });
  const sendTo = (to: Target) => (seconds: number) => load(to, seconds, PATH, texts());
  const result = await versus(turns, sendTo(target), sendTo(bare));
  await Promise.all([bare.stop(), target.stop()]);
  await place.drop();
  return result;
}

function* texts(): Generator<string> {
  const body = JSON.stringify({ to: '22671000000', body: 'Bonjour, votre colis est arrive.' });
  for (;;) yield body;
}
