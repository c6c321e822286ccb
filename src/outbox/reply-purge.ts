import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { OutboxStore } from './outbox-store.js';

const EVERY_MS = 600_000;
const AT_A_TIME = 1000;

/** Forgets the replies of Idempotency-Keys that have expired, so that their table does not grow without bound. */
@Injectable()
export class ReplyPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private cancel: () => void = () => undefined;

  constructor(
    private readonly store: OutboxStore,
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
      while ((await this.store.purgeReplies(this.clock.now(), AT_A_TIME)) === AT_A_TIME)
        await new Promise(setImmediate);
    } catch {
      new Logger('ReplyPurge').warn('Expired replies could not be purged; the next round will.');
    }
    this.onApplicationBootstrap();
  }
}
