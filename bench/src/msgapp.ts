import { median } from './accept.js';
import { load, sqliteUrl, startTarget } from './target.js';

/** Texts a second against the bare validated route's, the median of the rounds. */
export interface MsgappRatios {
  /** The number writes at a person's pace, as real ones do: what is accepted waits. */
  readonly accepting: number;
  /** The number writes as fast as it can, to the sandbox's phones, in the same process. */
  readonly inProcess: number;
  readonly perSecond: number;
  readonly refused: number;
}

const PATH = '/api/v1/msgapp/send/text';
const WARM_UP_S = 2;

/** `POST /msgapp/send/text` from one linked number, Express, SQLite, against the bare validated route. */
export async function benchMsgapp(rounds: number, seconds: number): Promise<MsgappRatios> {
  const places = [sqliteUrl(), sqliteUrl()] as const;
  const order = { kind: 'msgapp', adapter: 'express' };
  const bare = await startTarget({ kind: 'bare', adapter: 'express' });
  const accepting = await startTarget({ ...order, url: places[0].url, perMinute: 20 });
  const inProcess = await startTarget({ ...order, url: places[1].url });
  const targets = [bare, accepting, inProcess];
  for (const target of targets) await load(target, WARM_UP_S, PATH, texts());
  const ratios = { accepting: [] as number[], inProcess: [] as number[] };
  const speeds: number[] = [];
  let refused = 0;
  for (let round = 0; round < rounds; round++) {
    const theirs = await load(bare, seconds, PATH, texts());
    const ours = await load(accepting, seconds, PATH, texts());
    const both = await load(inProcess, seconds, PATH, texts());
    ratios.accepting.push(ours.perSecond / theirs.perSecond);
    ratios.inProcess.push(both.perSecond / theirs.perSecond);
    speeds.push(ours.perSecond);
    refused += ours.refused + both.refused;
  }
  await Promise.all(targets.map((target) => target.stop()));
  await Promise.all(places.map((place) => place.drop()));
  return {
    accepting: median(ratios.accepting),
    inProcess: median(ratios.inProcess),
    perSecond: median(speeds),
    refused,
  };
}

function* texts(): Generator<string> {
  const body = JSON.stringify({ to: '22671000000', body: 'Bonjour, votre colis est arrive.' });
  for (;;) yield body;
}
