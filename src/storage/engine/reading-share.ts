/**
 * Runs a limited number of reads at a time. The others wait without a connection: accounts take turns, and the reads of one
 * account run in order of arrival. So one account's listings delay another's by one read, however many there are.
 */
export class ReadingShare {
  /**
   * The waiting reads by account. The account whose turn is next comes first. The key '' has the reads of no single
   * account.
   */
  private readonly waiting = new Map<string, (() => void)[]>();
  /** How many reads of each account run now. */
  private readonly reading = new Map<string, number>();
  private readonly maxOfOne: number;
  private running = 0;

  /** @param limit how many reads run at a time, at least 1; one account gets at most two of them, and leaves at least one to others */
  constructor(private readonly limit: number) {
    this.maxOfOne = Math.max(1, Math.min(MAX_READS_OF_ONE, limit - 1));
  }

  async run<T>(task: () => Promise<T>, accountId = ''): Promise<T> {
    await this.enter(accountId);
    try {
      return await task();
    } finally {
      this.leave(accountId);
    }
  }

  private async enter(accountId: string): Promise<void> {
    if (this.running < this.limit && this.mayRead(accountId)) {
      this.begin(accountId);
      return;
    }
    await new Promise<void>((resolve) => {
      const queue = this.waiting.get(accountId);
      if (queue) queue.push(resolve);
      else this.waiting.set(accountId, [resolve]);
    });
  }

  private begin(accountId: string): void {
    this.running++;
    this.reading.set(accountId, this.countOf(accountId) + 1);
  }

  /** Ends a read. It passes its place to the next read at once, so that no later read overtakes that one. */
  private leave(accountId: string): void {
    this.running--;
    const left = this.countOf(accountId) - 1;
    if (left > 0) this.reading.set(accountId, left);
    else this.reading.delete(accountId);
    for (const [next, queue] of this.waiting) {
      if (!this.mayRead(next)) continue;
      const start = queue.shift();
      this.waiting.delete(next);
      // The account is moved behind all others that wait.
      if (queue.length > 0) this.waiting.set(next, queue);
      this.begin(next);
      start?.();
      return;
    }
  }

  private mayRead(accountId: string): boolean {
    return accountId === '' || this.countOf(accountId) < this.maxOfOne;
  }

  private countOf(accountId: string): number {
    return this.reading.get(accountId) ?? 0;
  }
}

/** The maximum number of listings of one account that are read at a time. */
const MAX_READS_OF_ONE = 2;
