import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { Clock } from '../../common/clock.js';
import { RateLimit } from '../../common/concurrency/rate-limit.js';
import { type ErrorCode, MessagingError } from '../../common/errors.js';

/** Wrong attempts a minute from one client. A person who mistypes a password needs fewer. */
const MAX_BY_CLIENT = 20;
/** Wrong attempts a minute over one connection address: a proxy has many clients, and may pass on any address they invent. */
const MAX_BY_CONNECTION = 200;

/** Where an attempt comes from. */
export interface GuessOrigin {
  /** The client's address, as the framework has it (`req.ip`). */
  readonly address: string | undefined;
  /** The address at the other end of the TCP connection. */
  readonly connection: string | undefined;
}

/** Limits how often somebody may try a link, credentials or a cookie that is wrong. */
@Injectable()
export class GuessLimit {
  private readonly rates: RateLimit;

  constructor(clock: Clock) {
    this.rates = new RateLimit(clock);
  }

  /**
   * Makes an attempt, and counts it if it was wrong. Attempts that are under way count too, so that a thousand at once do not get
   * around the limit.
   * @param isWrong whether an attempt that has not failed was wrong all the same
   * @throws MessagingError `error.session_attempts` past the limit, before anything is looked up
   */
  async attempt<T>(
    { address, connection }: GuessOrigin,
    make: () => Promise<T>,
    isWrong: (result: T) => boolean = () => false,
  ): Promise<T> {
    const [client, peer] = [`client ${networkOf(address)}`, `connection ${networkOf(connection)}`];
    const wait = this.rates.exceeded(client, MAX_BY_CLIENT);
    if (wait !== undefined) throw tooMany(wait);
    const peerWait = this.rates.exceeded(peer, MAX_BY_CONNECTION);
    if (peerWait !== undefined) {
      this.rates.giveBack(client);
      throw tooMany(peerWait);
    }
    let wasWrong = false;
    try {
      const result = await make();
      wasWrong = isWrong(result);
      return result;
    } catch (error) {
      wasWrong = error instanceof MessagingError && WRONG.has(error.code);
      throw error;
    } finally {
      if (!wasWrong) for (const key of [client, peer]) this.rates.giveBack(key);
    }
  }
}

/** The errors of a wrong guess. */
const WRONG: ReadonlySet<ErrorCode> = new Set(['error.link_refused', 'error.session_ended']);

function tooMany(seconds: number): MessagingError {
  return new MessagingError('error.session_attempts', {}, seconds);
}

/** The address, of IPv6 its first 64 bits: a home or a server has that many addresses (RFC 6177). */
function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? '';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
