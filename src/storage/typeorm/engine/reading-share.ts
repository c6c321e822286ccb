/** Runs a limited number of tasks at a time. The others wait in order of arrival, without a connection. */
export class ReadingShare {
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  /** @param limit how many tasks run at a time, at least 1 */
  constructor(private readonly limit: number) {}

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.running < this.limit) this.running++;
    // A finished task hands its slot to the first waiting task, so a later one does not overtake it.
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
