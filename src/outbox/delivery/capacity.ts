/**
 * The time for which a channel reports its capacity, in milliseconds. A worker reads the capacity twice within this time, so
 * that a carrier never runs out of work.
 */
export const CAPACITY_MS = 250;

/** Counts what a carrier accepted in the last 250 ms, as an estimate for the next 250 ms. */
export class RecentCount {
  private began = Number.NEGATIVE_INFINITY;
  private count = 0;
  /** The count of the previous 250 ms. */
  private before = 0;

  /** @param now by the clock's `elapsed` */
  add(now: number): void {
    this.turn(now);
    this.count++;
  }

  /** @param now by the clock's `elapsed` */
  at(now: number): number {
    this.turn(now);
    return Math.max(this.count, this.before);
  }

  private turn(now: number): void {
    const ageMs = now - this.began;
    if (ageMs < CAPACITY_MS) return;
    const isNext = ageMs < 2 * CAPACITY_MS;
    this.before = isNext ? this.count : 0;
    this.began = isNext ? this.began + CAPACITY_MS : now;
    this.count = 0;
  }
}
