import type { LinkEnd, LinkEvent, SessionTiming } from '../msgapp-transport.js';

/** The time limit of a started pairing, as a multiple of the time for which a connection may be silent. */
const PAIRING_ANSWERS = 4;

/**
 * Limits the waits of one session. It is needed because no event reports a server that accepts a connection and stays silent, or
 * a code that is never scanned. The transport itself supervises open connections.
 */
export class SessionWatchdog {
  private quietUntil = Number.POSITIVE_INFINITY;
  private pairing = false;

  /** @param pairUntil when an unlinked session ends, in milliseconds since the epoch. Undefined for a linked session */
  constructor(
    private readonly timing: Pick<SessionTiming, 'answerMs'>,
    private pairUntil: number | undefined,
  ) {}

  /** When the session must be checked next, in milliseconds since the epoch. */
  get deadline(): number {
    return Math.min(this.quietUntil, this.pairUntil ?? Number.POSITIVE_INFINITY);
  }

  /** Called when a connection was requested. */
  asked(now: number): void {
    this.quietUntil = now + this.timing.answerMs;
  }

  /** Called when there is no connection and none is requested. */
  idle(): void {
    this.quietUntil = Number.POSITIVE_INFINITY;
  }

  /**
   * Called at each event of the connection.
   *
   * @param aheadMs how far `now` is ahead of the clock that the event uses
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

  /** Called when the connection can send. From then on no wait is limited. */
  opened(): void {
    this.pairUntil = undefined;
    this.idle();
  }

  /** Returns how an overdue pairing ends, or undefined while it is not overdue. */
  pairingEnd(now: number): LinkEnd | undefined {
    if (this.pairUntil === undefined || now < this.pairUntil) return undefined;
    return this.pairing
      ? { next: 'give-up', status: 'failed', reason: 'pairing_timeout' }
      : { next: 'give-up', status: 'expired', reason: 'not_scanned' };
  }

  /** Returns how an overdue connection ends, or undefined while it is not overdue. */
  overdue(now: number): LinkEnd | undefined {
    return this.pairingEnd(now) ?? (now < this.quietUntil ? undefined : { next: 'retry', reason: 'no_answer' });
  }
}
