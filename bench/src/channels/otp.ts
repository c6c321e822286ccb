import { DataSource } from 'typeorm';
import { BETTER_AUTH, type Load, load, sqliteUrl, startTarget, type Target } from '../target.js';
import { type Versus, versus } from '../versus.js';

/** The results of the comparisons. */
export interface OtpRatios {
  /**
   * Sends, compared with the bare route. Another process on the database delivers, as in the first rows of the accept
   * table.
   */
  readonly send: Versus;
  /** As `send`, but the same process also delivers. */
  readonly sendInProcess: Versus;
  readonly verify: Versus;
  readonly sendAgainstBetterAuth: Versus;
  /**
   * Sends of our host on Fastify. Here better-auth runs without a framework, and Express alone costs more than a fair
   * comparison allows.
   */
  readonly fastifyAgainstBetterAuth: Versus;
  readonly verifyAgainstBetterAuth: Versus;
  /** Verifying with a million stored codes, compared with a few thousand. */
  readonly verifyAtMillion: Versus;
}

/** More codes than a server can verify in one second and the warm-up second before it. */
const CODES = 15_000;
const SLOW_CODES = 3000;

/**
 * Measures `send/otp` and `verify/otp` on Express and SQLite, and compares them with the bare validated echo and with
 * better-auth's phone numbers.
 */
export async function benchOtp(turns: number): Promise<OtpRatios> {
  const few = Math.ceil(turns / 3);
  const bare = await Contender.open({ kind: 'bare', adapter: 'express' });
  const accepting = await Contender.open({ kind: 'otp', adapter: 'express', dispatch: false });
  const send = await accepting.sendsAgainst(bare, turns);
  const theirs = await Contender.open({}, BETTER_AUTH);
  const sendAgainstBetterAuth = await accepting.sendsAgainst(theirs, few);
  await accepting.close();
  const onFastify = await Contender.open({ kind: 'otp', adapter: 'fastify', dispatch: false });
  const fastifyAgainstBetterAuth = await onFastify.sendsAgainst(theirs, few);
  await onFastify.close();
  const delivering = await Contender.open({ kind: 'otp', adapter: 'express', dispatch: true });
  const verify = await delivering.verifiesAgainst(bare, turns);
  const verifyAgainstBetterAuth = await delivering.verifiesAgainst(theirs, few);
  const full = await Contender.open({ kind: 'otp', adapter: 'express', dispatch: true }, undefined, 1_000_000);
  const verifyAtMillion = await full.verifiesAgainst(delivering, turns);
  await Promise.all([full.close(), theirs.close()]);
  // This comparison is the last one, because the server still delivers after its turn, which would slow down others.
  const sendInProcess = await delivering.sendsAgainst(bare, turns);
  await Promise.all([delivering.close(), bare.close()]);
  return {
    send,
    sendInProcess,
    verify,
    sendAgainstBetterAuth,
    fastifyAgainstBetterAuth,
    verifyAgainstBetterAuth,
    verifyAtMillion,
  };
}

/** A server on a database of its own. */
class Contender {
  private constructor(
    private readonly target: Target,
    private readonly place: { drop(): Promise<void> },
  ) {}

  static async open(order: object, program?: string, stored = 0): Promise<Contender> {
    const place = sqliteUrl();
    if (stored > 0) await fill(place.url, stored);
    return new Contender(await startTarget({ ...order, url: place.url }, program), place);
  }

  async close(): Promise<void> {
    await this.target.stop();
    await this.place.drop();
  }

  sendsAgainst(other: Contender, turns: number): Promise<Versus> {
    return versus(
      turns,
      (seconds) => this.sends(seconds),
      (seconds) => other.sends(seconds),
    );
  }

  /** Compares verifications for a second at a time. There are not enough codes for more. */
  verifiesAgainst(other: Contender, turns: number): Promise<Versus> {
    return versus(
      turns,
      () => this.verifies(),
      () => other.verifies(),
    );
  }

  private sends(seconds: number): Promise<Load> {
    const { target } = this;
    return this.isBetterAuth
      ? load(target, seconds, '/api/auth/phone-number/send-otp', theirSends())
      : load(target, seconds, '/api/v1/send/otp', sends());
  }

  /** Verifies only correct codes, each once. Every answer must be a 200. */
  private async verifies(): Promise<Load> {
    const { target } = this;
    if (this.isBetterAuth) {
      const codes = await target.codes(Array.from({ length: SLOW_CODES }, nextNumber));
      return load(target, 1, '/api/auth/phone-number/verify', theirVerifies(codes));
    }
    // The bare route accepts any code.
    const isBare = target.key === 'none';
    const codes = isBare ? madeUp() : await target.codes(Array.from({ length: CODES }, nextNumber));
    return load(target, 1, '/api/v1/verify/otp', verifies(codes));
  }

  private get isBetterAuth(): boolean {
    return this.target.program === BETTER_AUTH;
  }
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

/** Fills a database with records of codes for other numbers. The database makes them itself. */
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
    INSERT INTO messaging_policy (id, version, state, messages, expires_at)
    SELECT lower(hex(randomblob(16))) || i, g.version, g.state, g.messages, g.expires_at + 86400000
    FROM n, (SELECT * FROM messaging_policy LIMIT 1) g`);
  await dataSource.query('PRAGMA wal_checkpoint(TRUNCATE)');
  await dataSource.destroy();
}
