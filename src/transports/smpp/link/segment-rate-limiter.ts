import type { RateSettings } from '../smpp-settings.js';

/** The burst that makes up for late timers, in seconds of the rate. */
const BURST_SECONDS = 0.1;
/** The maximum number of doublings of a pause. */
const MAX_DOUBLINGS = 6;

/**
 * Limits how fast a link submits. The limit is its parts per second, and less after the carrier has throttled. Then the link
 * pauses and continues with half the window. The pause is longer each time if no part was accepted in between. Afterwards the
 * window grows by one for each full window of accepted parts.
 */
export class SegmentRateLimiter {
  private tokens: number;
  private readonly burst: number;
  private filledAt: number;
  private allowed: number;
  private takenAtThisSize = 0;
  private doublings = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;

  /** @param random returns a number in [0, 1), which spreads the pauses of links that are throttled together */
  constructor(
    private readonly settings: RateSettings,
    now: number,
    private readonly random: () => number,
  ) {
    this.burst = Math.max(1, (settings.partsPerSecond ?? 0) * BURST_SECONDS);
    this.tokens = this.burst;
    this.filledAt = now;
    this.allowed = settings.window;
  }

  /** The current maximum number of unanswered parts. */
  get window(): number {
    return this.allowed;
  }

  /** Returns the delay before the next part, in milliseconds. 0: none. */
  waitMs(now: number): number {
    const pauseMs = this.pausedUntil - now;
    const { partsPerSecond } = this.settings;
    if (partsPerSecond === undefined) return Math.max(0, pauseMs);
    this.fill(now, partsPerSecond);
    // This tolerates rounding errors, which would otherwise cost an extra timer.
    const tokenMs = this.tokens > 0.999_999 ? 0 : Math.ceil(((1 - this.tokens) * 1000) / partsPerSecond);
    return Math.max(0, pauseMs, tokenMs);
  }

  /** How many parts the rate allows within the next `ms` milliseconds. */
  partsWithin(ms: number, now: number): number {
    const restMs = ms - Math.max(0, this.pausedUntil - now);
    if (restMs <= 0) return 0;
    const { partsPerSecond } = this.settings;
    if (partsPerSecond === undefined) return Number.POSITIVE_INFINITY;
    this.fill(now, partsPerSecond);
    return Math.max(0, this.tokens) + (restMs * partsPerSecond) / 1000;
  }

  /** Records that a part was submitted. */
  sent(): void {
    if (this.settings.partsPerSecond !== undefined) this.tokens -= 1;
  }

  /** Records that the carrier accepted a part. */
  taken(): void {
    this.doublings = 0;
    if (this.allowed === this.settings.window) return;
    this.takenAtThisSize++;
    if (this.takenAtThisSize < this.allowed) return;
    this.allowed++;
    this.takenAtThisSize = 0;
  }

  /** Records that the carrier did not answer in time. The window becomes 1. */
  stalled(sentAt: number, now: number): void {
    this.slowDown(sentAt, now);
    this.allowed = 1;
  }

  /**
   * Records that the carrier throttled a part.
   * @param sentAt when the part was submitted. Parts that were already submitted when a pause began are ignored
   */
  slowDown(sentAt: number, now: number): void {
    if (sentAt < this.pausedUntil) return;
    const pause = this.settings.throttlePauseMs * 2 ** Math.min(this.doublings, MAX_DOUBLINGS);
    this.doublings++;
    this.pausedUntil = now + Math.ceil((pause / 2) * (1 + this.random()));
    this.allowed = Math.max(1, this.allowed >> 1);
    this.takenAtThisSize = 0;
  }

  private fill(now: number, partsPerSecond: number): void {
    this.tokens = Math.min(this.burst, this.tokens + ((now - this.filledAt) * partsPerSecond) / 1000);
    this.filledAt = now;
  }
}
