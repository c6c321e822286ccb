import type { PaceSettings } from '../smpp-settings.js';

/** Parts that may catch up on what a late timer missed, in seconds' worth. */
const BURST_SECONDS = 0.1;
/** A pause doubles at most so often. */
const MOST_DOUBLINGS = 6;

/**
 * How fast a link may submit: never above its parts a second, and slower as a whole after the carrier throttled. Then it
 * rests, for longer each time nothing was taken in between, and goes on with half the window, which grows back by one for
 * each window that is taken.
 */
export class SegmentRateLimiter {
  private tokens: number;
  private readonly burst: number;
  private filledAt: number;
  private allowed: number;
  private takenAtThisWidth = 0;
  private doublings = 0;
  private restUntil = Number.NEGATIVE_INFINITY;

  /** @param random in [0, 1), spreads the pauses of links that were throttled together */
  constructor(
    private readonly settings: PaceSettings,
    now: number,
    private readonly random: () => number,
  ) {
    this.burst = Math.max(1, (settings.partsPerSecond ?? 0) * BURST_SECONDS);
    this.tokens = this.burst;
    this.filledAt = now;
    this.allowed = settings.window;
  }

  /** How many parts may be unanswered at a time now. */
  get window(): number {
    return this.allowed;
  }

  /** Milliseconds until the next part may go; 0: now. */
  waitMs(now: number): number {
    const rest = this.restUntil - now;
    const { partsPerSecond } = this.settings;
    if (partsPerSecond === undefined) return Math.max(0, rest);
    this.fill(now, partsPerSecond);
    // A hair is forgiven: what is left of a division must not cost a timer of its own.
    const shortage = this.tokens > 0.999_999 ? 0 : Math.ceil(((1 - this.tokens) * 1000) / partsPerSecond);
    return Math.max(0, rest, shortage);
  }

  /** A part goes out. */
  sent(): void {
    if (this.settings.partsPerSecond !== undefined) this.tokens -= 1;
  }

  /** The carrier took one. */
  taken(): void {
    this.doublings = 0;
    if (this.allowed === this.settings.window) return;
    this.takenAtThisWidth++;
    if (this.takenAtThisWidth < this.allowed) return;
    this.allowed++;
    this.takenAtThisWidth = 0;
  }

  /** The carrier said nothing at all: one at a time until it does. */
  stalled(sentAt: number, now: number): void {
    this.slowDown(sentAt, now);
    this.allowed = 1;
  }

  /**
   * The carrier said "too fast".
   * @param sentAt when the part went out: those that were on the wire already when a pause began say nothing new
   */
  slowDown(sentAt: number, now: number): void {
    if (sentAt < this.restUntil) return;
    const pause = this.settings.throttlePauseMs * 2 ** Math.min(this.doublings, MOST_DOUBLINGS);
    this.doublings++;
    this.restUntil = now + Math.ceil((pause / 2) * (1 + this.random()));
    this.allowed = Math.max(1, this.allowed >> 1);
    this.takenAtThisWidth = 0;
  }

  private fill(now: number, partsPerSecond: number): void {
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) * partsPerSecond) / 1000);
    this.filledAt = now;
  }
}
