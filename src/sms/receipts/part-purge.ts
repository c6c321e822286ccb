import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Purge } from '../../outbox/purge.js';
import { PartStore } from './part-store.js';

/** Forgets parts whose receipts nobody expects any more, and receipts that nothing matched. */
@Injectable()
export class PartPurge extends Purge {
  private readonly log = new Logger('SmsChannel');

  constructor(
    private readonly store: PartStore,
    clock: Clock,
  ) {
    super('parts of SMS', clock);
  }

  protected override async forget(now: number, limit: number): Promise<number> {
    const { parts, receipts } = await this.store.purge(now, limit);
    if (receipts > 0) this.log.warn(`${receipts} ids of receipts matched no open SMS: does the link's id format fit?`);
    return Math.max(parts, receipts);
  }
}
