import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { OutboxStore } from './outbox-store.js';
import { Purge } from './purge.js';

/** Forgets the replies of Idempotency-Keys that have expired. */
@Injectable()
export class ReplyPurge extends Purge {
  constructor(
    private readonly store: OutboxStore,
    clock: Clock,
  ) {
    super('replies', clock);
  }

  protected override forget(now: number, limit: number): Promise<number> {
    return this.store.purgeReplies(now, limit);
  }
}
