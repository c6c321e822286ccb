import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { GuardStore } from './guard-store.js';

const EVERY_MS = 600_000;
const AT_A_TIME = 1000;

/** Forgets the records of guards that have expired, so that their table does not grow without bound. */
@Injectable()
export class GuardPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private cancel: () => void = () => undefined;

  constructor(
    private readonly store: GuardStore,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.cancel = this.clock.after(EVERY_MS, () => void this.purge());
  }

  onApplicationShutdown(): void {
    this.cancel();
  }

  private async purge(): Promise<void> {
    try {
      while ((await this.store.purge(this.clock.now(), AT_A_TIME)) === AT_A_TIME) await new Promise(setImmediate);
    } catch {
      new Logger('GuardPurge').warn('Expired records could not be purged; the next round will.');
    }
    this.onApplicationBootstrap();
  }
}
