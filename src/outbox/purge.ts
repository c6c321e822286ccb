import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../common/clock.js';

const EVERY_MS = 600_000;

/** Forgets now and then what has expired, so that its table does not grow without bound. */
export abstract class Purge implements OnApplicationBootstrap, OnApplicationShutdown {
  private cancel: () => void = () => undefined;
  private stopped = false;

  /**
   * @param what how the log calls it
   * @param atATime how many are forgotten in one transaction
   */
  constructor(
    private readonly what: string,
    private readonly clock: Clock,
    private readonly atATime = 1000,
  ) {}

  /** Forgets at most `limit`; answers how many. */
  protected abstract forget(now: number, limit: number): Promise<number>;

  onApplicationBootstrap(): void {
    this.cancel = this.clock.after(EVERY_MS, () => void this.purge());
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    this.cancel();
  }

  private async purge(): Promise<void> {
    try {
      while (!this.stopped && (await this.forget(this.clock.now(), this.atATime)) === this.atATime) {
        await new Promise(setImmediate);
      }
    } catch {
      new Logger('Purge').warn(`Expired ${this.what} could not be purged; the next round will.`);
    }
    if (!this.stopped) this.onApplicationBootstrap();
  }
}
