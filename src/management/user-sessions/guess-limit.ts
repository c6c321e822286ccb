import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { Clock } from '../../common/clock.js';
import { RateLimit } from '../../common/concurrency/rate-limit.js';
import { type ErrorCode, MessagingError } from '../../common/errors.js';

/** How many wrong attempts a minute one client may make. A person who mistypes a password needs fewer. */
const MAX_BY_CLIENT = 20;
/**
 * How many wrong attempts a minute may come from one connection address. It is higher, because a proxy has many clients. It is
 * needed, because a proxy may pass on any address that clients invent.
 */
const MAX_BY_CONNECTION = 200;

/** The origin of an attempt. */
export interface GuessOrigin {
  /** The client's address, as the framework gives it (`req.ip`). */
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
   * Makes an attempt, and counts it if it was wrong. Running attempts count too, so that a thousand attempts at once cannot avoid
   * the limit.
   * @param isWrong whether an attempt was wrong although it did not throw
   * @throws MessagingError `error.session_attempts` above the limit, before any look-up
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

/**
 * Returns the address. For IPv6 it returns the first 64 bits, because a home or a server has all addresses below them (RFC 6177).
 */
function networkOf(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return address ?? '';
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
