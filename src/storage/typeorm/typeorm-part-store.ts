import type { Movement } from '../../outbox/outbox-store.js';
import { type Parking, type PartPurgeCount, PartStore } from '../../sms/part-store.js';
import type { DatedReceipt, SmsPart, TakenSms } from '../../sms/sms-part.js';
import type { Executor } from './executor.js';
import { listParts, purgeParts, receiveReceipts, recordParts } from './part-operations.js';

/** Parts of SMS and parked receipts in SQL. */
export class TypeormPartStore extends PartStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override record(taken: readonly TakenSms[], now: number): Promise<readonly Movement[]> {
    return this.executor.write(() => recordParts(this.executor.dialect, taken, now));
  }

  override receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly Movement[]> {
    return this.executor.write(() => receiveReceipts(this.executor.dialect, receipts, parking));
  }

  override parts(messageId: string, position?: number): Promise<readonly SmsPart[]> {
    return this.executor.read(() => listParts(messageId, position));
  }

  override purge(now: number, limit: number): Promise<PartPurgeCount> {
    return this.executor.write(() => purgeParts(this.executor.dialect, now, limit));
  }
}
