/** Runs a limited number of tasks at a time; the others wait in the order in which they came, without a connection. */
export class ReadingShare {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  /** @param most how many run at a time, at least 1 */
  constructor(private readonly most: number) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running < this.most) this.running++;
    // A task that ends hands its place to the first that waits: a later one does not overtake it.
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }
}
