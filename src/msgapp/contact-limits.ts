import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';

/** How many contacts are remembered, over all sessions. */
const CAPACITY = 50_000;

/**
 * Which sessions may not write to people who do not know them, for a time. Whom a session has reached since this process
 * holds it counts as known to it.
 */
export class ContactLimits {
  /** By the clock's `elapsed`; of sessions that are restricted still, and no others. */
  private readonly until = new Map<string, number>();
  private readonly reached = new LRUCache<string, true>({ max: CAPACITY });

  constructor(private readonly clock: Clock) {}

  /** A session is restricted for so many milliseconds from now on. */
  restrict(sessionId: string, forMs: number): void {
    const now = this.clock.elapsed();
    const until = now + forMs;
    for (const [id, end] of this.until) if (end <= now) this.until.delete(id);
    this.until.set(sessionId, Math.max(until, this.until.get(sessionId) ?? 0));
  }

  /** A session is over. */
  forget(sessionId: string): void {
    this.until.delete(sessionId);
  }

  /** The channel took a session's message to a number. */
  reach(sessionId: string, number: string): void {
    this.reached.set(`${sessionId} ${number}`, true);
  }

  /** Whether a session must not write to a number now. */
  refuses(sessionId: string, number: string): boolean {
    const until = this.until.get(sessionId);
    if (until === undefined || until <= this.clock.elapsed()) return false;
    return !this.reached.has(`${sessionId} ${number}`);
  }
}
