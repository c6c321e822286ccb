import type { LinkEnd } from '../msgapp-transport.js';

/** What is to follow the end of a connection. */
export type NextStep =
  | { readonly again: true; readonly waitMs: number }
  | { readonly again: false; readonly status: FinalStatus; readonly reason: string };

/** The states that a connection can end a session with. */
export type FinalStatus = Extract<LinkEnd, { next: 'give-up' }>['status'];

/** Half of these to all of it is waited: 1 to 2 s after the first failure, 30 to 60 s from the sixth on. */
const BASE_MS = 2000;
const LONGEST_MS = 60_000;

/** Connections in a row that may end with `retry-few`, the first included. */
const FEW = 8;

/** Restarts in a row that are not waited for. */
const FREE_RESTARTS = 3;

/** Decides, for one session, what follows each end of a connection. Failures count until a connection has been steady. */
export class ReconnectPolicy {
  private failures = 0;
  private limited = 0;
  private restarts = 0;
  private openedAt: number | undefined;

  /**
   * @param steadyMs how long a connection must be open before earlier failures are forgotten
   * @param random in [0, 1), the jitter
   */
  constructor(
    private readonly steadyMs: number,
    private readonly random: () => number,
  ) {}

  /** A connection is open. @param at milliseconds since the epoch */
  opened(at: number): void {
    this.openedAt = at;
  }

  /** A connection has ended, or never came about. @param at milliseconds since the epoch */
  ended(end: LinkEnd, at: number): NextStep {
    // Only a long time of being open clears the count: a server that lets us in and throws us out at once would be called in a hot loop.
    if (this.openedAt !== undefined && at - this.openedAt >= this.steadyMs) this.reset();
    this.openedAt = undefined;
    if (end.next === 'give-up') return { again: false, status: end.status, reason: end.reason };
    if (end.next === 'retry-few' && ++this.limited >= FEW)
      return { again: false, status: 'failed', reason: end.reason };
    if (end.next === 'restart' && ++this.restarts <= FREE_RESTARTS) return { again: true, waitMs: 0 };
    return { again: true, waitMs: this.backOff() };
  }

  private backOff(): number {
    const ceiling = Math.min(LONGEST_MS, BASE_MS * 2 ** Math.min(this.failures++, 10));
    return Math.round((ceiling / 2) * (1 + this.random()));
  }

  private reset(): void {
    this.failures = 0;
    this.limited = 0;
    this.restarts = 0;
  }
}
