import { DataSource } from 'typeorm';
import { median } from './accept.js';
import { BETTER_AUTH, load, sqliteUrl, startTarget, type Target } from './target.js';

/** Ratios of requests a second, each the median of the rounds. */
export interface OtpRatios {
  /** Another process on the database delivers, as in the first rows of the accept table. */
  readonly sendAgainstBare: number;
  /** This process delivers too. */
  readonly sendInProcess: number;
  readonly verifyAgainstBare: number;
  readonly sendAgainstBetterAuth: number;
  /** Our host on Fastify: better-auth runs without a framework here, and Express alone costs more than that allows. */
  readonly fastifyAgainstBetterAuth: number;
  readonly verifyAgainstBetterAuth: number;
  /** Verifying with a million stored codes against a thousand. */
  readonly verifyAtMillion: number;
  readonly refused: number;
}

const SECONDS = 2;
/** More than a server can verify in that time. */
const CODES = 20_000;
const SLOW_CODES = 3000;

/** `send/otp` and `verify/otp` on Express and SQLite, against the bare validated echo and better-auth's phone numbers. */
export async function benchOtp(rounds: number): Promise<OtpRatios> {
  const places = [sqliteUrl(), sqliteUrl(), sqliteUrl(), sqliteUrl(), sqliteUrl()] as const;
  await fill(places[1].url, 1_000_000);
  const [bare, ours, full, theirs, accepting, onFastify] = await Promise.all([
    startTarget({ kind: 'bare', adapter: 'express' }),
    startTarget({ kind: 'otp', adapter: 'express', url: places[0].url, dispatch: true }),
    startTarget({ kind: 'otp', adapter: 'express', url: places[1].url, dispatch: true }),
    startTarget({ url: places[2].url }, BETTER_AUTH),
    startTarget({ kind: 'otp', adapter: 'express', url: places[3].url, dispatch: false }),
    startTarget({ kind: 'otp', adapter: 'fastify', url: places[4].url, dispatch: false }),
  ]);
  const ratios = {
    sendAgainstBare: [] as number[],
    sendInProcess: [] as number[],
    verifyAgainstBare: [] as number[],
    sendAgainstBetterAuth: [] as number[],
    fastifyAgainstBetterAuth: [] as number[],
    verifyAgainstBetterAuth: [] as number[],
    verifyAtMillion: [] as number[],
  };
  let refused = 0;
  for (let round = 0; round <= rounds; round++) {
    const bareSend = await load(bare, SECONDS, '/api/v1/send/otp', sends());
    const ourSend = await load(accepting, SECONDS, '/api/v1/send/otp', sends());
    const bothSend = await load(ours, SECONDS, '/api/v1/send/otp', sends());
    const theirSend = await load(theirs, SECONDS, '/api/auth/phone-number/send-otp', theirSends());
    const fastSend = await load(onFastify, SECONDS, '/api/v1/send/otp', sends());
    const bareVerify = await load(bare, SECONDS, '/api/v1/verify/otp', verifies(madeUp()));
    const ourVerify = await verified(ours, CODES);
    const fullVerify = await verified(full, CODES);
    const theirVerify = await verified(theirs, SLOW_CODES);
    if (round === 0) continue; // warm-up
    refused += ourSend.refused + bothSend.refused + fastSend.refused + ourVerify.refused + fullVerify.refused;
    ratios.sendAgainstBare.push(ourSend.perSecond / bareSend.perSecond);
    ratios.sendInProcess.push(bothSend.perSecond / bareSend.perSecond);
    ratios.verifyAgainstBare.push(ourVerify.perSecond / bareVerify.perSecond);
    ratios.sendAgainstBetterAuth.push(ourSend.perSecond / theirSend.perSecond);
    ratios.fastifyAgainstBetterAuth.push(fastSend.perSecond / theirSend.perSecond);
    ratios.verifyAgainstBetterAuth.push(ourVerify.perSecond / theirVerify.perSecond);
    ratios.verifyAtMillion.push(fullVerify.perSecond / ourVerify.perSecond);
  }
  await Promise.all([bare, ours, full, theirs, accepting, onFastify].map((target) => target.stop()));
  await Promise.all(places.map((place) => place.drop()));
  return {
    sendAgainstBare: median(ratios.sendAgainstBare),
    sendInProcess: median(ratios.sendInProcess),
    verifyAgainstBare: median(ratios.verifyAgainstBare),
    fastifyAgainstBetterAuth: median(ratios.fastifyAgainstBetterAuth),
    sendAgainstBetterAuth: median(ratios.sendAgainstBetterAuth),
    verifyAgainstBetterAuth: median(ratios.verifyAgainstBetterAuth),
    verifyAtMillion: median(ratios.verifyAtMillion),
    refused,
  };
}

/** Right codes only, each once; every answer is to be a 200. */
async function verified(target: Target, count: number) {
  const codes = await target.codes(Array.from({ length: count }, nextNumber));
  const isOurs = target.key !== 'none';
  const path = isOurs ? '/api/v1/verify/otp' : '/api/auth/phone-number/verify';
  return load(target, SECONDS, path, isOurs ? verifies(codes) : theirVerifies(codes));
}

let numbers = 22_600_000_000;
function nextNumber(): string {
  return String(++numbers);
}

function* sends(): Generator<string> {
  for (;;) yield JSON.stringify({ service: 'Bench', number: nextNumber() });
}

function* theirSends(): Generator<string> {
  for (;;) yield JSON.stringify({ phoneNumber: `+${nextNumber()}` });
}

function* madeUp(): Generator<[string, string]> {
  for (;;) yield [nextNumber(), '1234'];
}

function* verifies(codes: Iterable<[string, string]>): Generator<string> {
  for (const [number, otp] of codes) yield JSON.stringify({ otp, number, service: 'Bench' });
}

function* theirVerifies(codes: Iterable<[string, string]>): Generator<string> {
  for (const [number, code] of codes) {
    yield JSON.stringify({ phoneNumber: `+${number}`, code, disableSession: true });
  }
}

/** Records of codes that others have been sent, written by the database itself. */
async function fill(url: string, stored: number): Promise<void> {
  const target = await startTarget({ kind: 'otp', adapter: 'express', url, dispatch: true });
  const [[number = ''] = []] = await target.codes([nextNumber()]);
  await target.stop();
  const dataSource = await new DataSource({
    type: 'better-sqlite3',
    database: url.slice('sqlite:'.length),
  }).initialize();
  if (number === '') throw new Error('No code arrived.');
  await dataSource.query(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${stored})
    INSERT INTO messaging_guard (id, version, state, messages, expires_at)
    SELECT lower(hex(randomblob(16))) || i, g.version, g.state, g.messages, g.expires_at + 86400000
    FROM n, (SELECT * FROM messaging_guard LIMIT 1) g`);
  await dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)');
  await dataSource.destroy();
}
