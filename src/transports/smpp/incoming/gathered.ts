/** Hands on together what comes at the same time, and what comes while the last lot is being taken. */
export class Gathered<T> {
  private waiting: T[] = [];
  private next: Promise<void> | undefined;
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly take: (items: readonly T[]) => Promise<void>) {}

  /** Resolves when the lot with this item is taken, rejects when it is not. */
  add(item: T): Promise<void> {
    this.waiting.push(item);
    this.next ??= this.takeNext();
    return this.next;
  }

  private async takeNext(): Promise<void> {
    await this.running;
    await new Promise(setImmediate);
    const lot = this.waiting;
    this.waiting = [];
    this.next = undefined;
    const taken = this.take(lot);
    this.running = taken.catch(() => undefined);
    return taken;
  }
}
