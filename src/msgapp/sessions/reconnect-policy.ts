import { MINUTE_MS } from '../../common/time.js';
import type { LinkEnd } from '../msgapp-transport.js';

/** The step after the end of a connection. */
type NextStep =
  | { readonly again: true; readonly waitMs: number }
  | { readonly again: false; readonly status: FinalStatus; readonly reason: string };

/** Final states that the end of a connection can lead to. */
type FinalStatus = Extract<LinkEnd, { next: 'give-up' }>['status'];

/**
 * The wait is a random value between half and all of a base that doubles: 1 to 2 s after the first failure, 30 to 60 s from the
 * sixth failure on.
 */
const BASE_MS = 2000;
const MAX_MS = MINUTE_MS;

/** How many connections in a row may end with `retry-few`. */
const FEW = 8;

/** How many restarts in a row need no wait. */
const FREE_RESTARTS = 3;

/** Decides what follows each end of a session's connection. Failures count until a connection has stayed open long enough. */
export class ReconnectPolicy {
  private failures = 0;
  private limited = 0;
  private restarts = 0;
  private openedAt: number | undefined;

  /**
   * @param steadyMs for how many milliseconds a connection must be open before earlier failures are forgotten
   * @param random in [0, 1), the jitter
   */
  constructor(
    private readonly steadyMs: number,
    private readonly random: () => number,
  ) {}

  /**
   * Called when a connection is open.
   * @param at milliseconds since the epoch
   */
  opened(at: number): void {
    this.openedAt = at;
  }

  /**
   * Called when a connection has ended or could not be made.
   * @param at milliseconds since the epoch
   */
  ended(end: LinkEnd, at: number): NextStep {
    // Only a long-lived connection resets the count: a server that accepts and then drops us at once must not cause a hot loop.
    if (this.openedAt !== undefined && at - this.openedAt >= this.steadyMs) this.reset();
    this.openedAt = undefined;
    if (end.next === 'give-up') return { again: false, status: end.status, reason: end.reason };
    if (end.next === 'retry-few' && ++this.limited >= FEW)
      return { again: false, status: 'failed', reason: end.reason };
    if (end.next === 'restart' && ++this.restarts <= FREE_RESTARTS) return { again: true, waitMs: 0 };
    return { again: true, waitMs: this.backOff() };
  }

  private backOff(): number {
    const ceiling = Math.min(MAX_MS, BASE_MS * 2 ** Math.min(this.failures++, 10));
    return Math.round((ceiling / 2) * (1 + this.random()));
  }

  private reset(): void {
    this.failures = 0;
    this.limited = 0;
    this.restarts = 0;
  }
}
