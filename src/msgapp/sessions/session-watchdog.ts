import type { LinkEnd, LinkEvent, SessionTiming } from '../msgapp-transport.js';

/** A pairing that was begun may take so many times as long as a connection may say nothing. */
const PAIRING_ANSWERS = 4;

/**
 * How long one session may go on waiting. Nobody tells when a server takes a connection and says nothing, or when nobody
 * comes to scan; a connection that is open is the transport's to watch.
 */
export class SessionWatchdog {
  private quietUntil = Number.POSITIVE_INFINITY;
  private pairing = false;

  /** @param pairUntil when an unlinked session ends; undefined for one that is linked. Milliseconds since the epoch. */
  constructor(
    private readonly timing: Pick<SessionTiming, 'answerMs'>,
    private pairUntil: number | undefined,
  ) {}

  /** When somebody must look, milliseconds since the epoch. */
  get deadline(): number {
    return Math.min(this.quietUntil, this.pairUntil ?? Number.POSITIVE_INFINITY);
  }

  /** A connection was asked for. */
  asked(now: number): void {
    this.quietUntil = now + this.timing.answerMs;
  }

  /** There is no connection, and none is asked for. */
  idle(): void {
    this.quietUntil = Number.POSITIVE_INFINITY;
  }

  /**
   * The connection said something.
   * @param aheadMs how far `now` is ahead of the clock that the event goes by
   */
  heard(event: LinkEvent, now: number, aheadMs = 0): void {
    const { answerMs } = this.timing;
    if (event.kind === 'qr') this.quietUntil = event.expiresAt + aheadMs + answerMs;
    if (event.kind === 'linked') {
      this.quietUntil = now + answerMs;
      this.pairing = true;
      this.pairUntil = now + PAIRING_ANSWERS * answerMs;
    }
  }

  /** Messages can be sent: nothing is waited for any more. */
  opened(): void {
    this.pairUntil = undefined;
    this.idle();
  }

  /** How a session's pairing ends that is overdue; undefined while it is not. */
  pairingEnd(now: number): LinkEnd | undefined {
    if (this.pairUntil === undefined || now < this.pairUntil) return undefined;
    return this.pairing
      ? { next: 'give-up', status: 'failed', reason: 'pairing_timeout' }
      : { next: 'give-up', status: 'expired', reason: 'not_scanned' };
  }

  /** How a connection ends that is overdue; undefined while it is not. */
  overdue(now: number): LinkEnd | undefined {
    return this.pairingEnd(now) ?? (now < this.quietUntil ? undefined : { next: 'retry', reason: 'no_answer' });
  }
}
