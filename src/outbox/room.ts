/**
 * The time for which a channel tells its room, in milliseconds. A worker looks at the room twice in it, so that a carrier does
 * not run dry.
 */
export const ROOM_MS = 250;

/** How much a carrier took within the last 250 ms: an estimate of what it takes within the next. */
export class RecentCount {
  private began = Number.NEGATIVE_INFINITY;
  private count = 0;
  /** In the 250 ms before. */
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
    if (ageMs < ROOM_MS) return;
    const isNext = ageMs < 2 * ROOM_MS;
    this.before = isNext ? this.count : 0;
    this.began = isNext ? this.began + ROOM_MS : now;
    this.count = 0;
  }
}
