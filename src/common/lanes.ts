/**
 * Queues of what has to wait, one for each thing that is waited for. Each is worked through one batch at a time, and at most
 * so many of them at once; they take turns.
 */
export class Lanes<T> {
  private readonly queues = new Map<string, T[]>();
  private readonly running = new Set<string>();

  /**
   * @param most how many queues are worked through at a time
   * @param run takes the next batch from the front of a queue, before it returns, and does it; must not fail
   */
  constructor(
    private readonly most: number,
    private readonly run: (queue: T[]) => Promise<void>,
  ) {}

  /** Puts items behind what waits for the same thing, and starts what can be started. */
  add(items: readonly T[], nameOf: (item: T) => string): void {
    for (const item of items) {
      const name = nameOf(item);
      const queue = this.queues.get(name);
      if (queue) queue.push(item);
      else this.queues.set(name, [item]);
    }
    this.start();
  }

  private start(): void {
    for (const [name, queue] of this.queues) {
      if (this.running.size >= this.most) return;
      if (this.running.has(name)) continue;
      this.running.add(name);
      this.queues.delete(name);
      void this.run(queue).finally(() => {
        this.running.delete(name);
        this.start();
      });
      // The others come first before its next batch.
      if (queue.length > 0) this.queues.set(name, queue);
    }
  }
}
