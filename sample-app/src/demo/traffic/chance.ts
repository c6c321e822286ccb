/** Random-looking numbers that are the same in every run (mulberry32). */
export class Chance {
  private state = 20_261_123;

  /** Returns the next number, in [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Chooses one of the items. @param items not empty */
  one<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** Chooses some different items. */
  some<T>(items: readonly T[], count: number): T[] {
    const found = new Set<T>();
    while (found.size < Math.min(count, items.length)) found.add(this.one(items));
    return [...found];
  }
}
