/**
 * Counts pending work, so that its end can be awaited. A `Set` of promises would keep their results in memory until the
 * next full garbage collection; see `OpenRequests`.
 */
export class PendingWork {
  private count = 0;
  private readonly ended: (() => void)[] = [];

  /** Counts the work until it ends, and resolves with its outcome. */
  async add<T>(work: Promise<T>): Promise<T> {
    this.count++;
    try {
      return await work;
    } finally {
      this.count--;
      if (this.count === 0) for (const resolve of this.ended.splice(0)) resolve();
    }
  }

  /** Resolves when no work is pending, at once if there is none now. */
  end(): Promise<void> {
    return this.count === 0 ? Promise.resolve() : new Promise((resolve) => this.ended.push(resolve));
  }
}
