const LAST = 0x7fffffff;

/** The numbers of our requests: 1, 2, …, 0x7FFFFFFF and round again (SMPP 3.4, section 3.2). */
export class SequenceNumbers {
  /** @param last the number given out before the first; 0..0x7FFFFFFF */
  constructor(private last = 0) {}

  /** The next number that is not taken by a request that may still be answered. */
  next(isTaken: (sequence: number) => boolean): number {
    do {
      this.last = this.last === LAST ? 1 : this.last + 1;
    } while (isTaken(this.last));
    return this.last;
  }
}
