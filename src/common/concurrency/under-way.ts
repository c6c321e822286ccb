/**
 * Counts work under way, so that its end can be awaited. A `Set` of it would keep results until the next full garbage
 * collection: see `OpenRequests`.
 */
export class UnderWay {
  private count = 0;
  private readonly ended: (() => void)[] = [];

  /** The outcome of the work, which counts until then. */
  async add<T>(work: Promise<T>): Promise<T> {
    this.count++;
    try {
      return await work;
    } finally {
      this.count--;
      if (this.count === 0) for (const resolve of this.ended.splice(0)) resolve();
    }
  }

  /** Resolves when none is under way; at once where none is. */
  end(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.ended.push(resolve));
  }
}
