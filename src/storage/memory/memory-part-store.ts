import type { Movement } from '../../outbox/outbox-store.js';
import type { Settlement } from '../../outbox/settlement.js';
import { nextPart, settlementOfParts } from '../../sms/part-fate.js';
import { type Parking, type PartPurgeCount, PartStore } from '../../sms/part-store.js';
import { receiptKey } from '../../sms/receipt-key.js';
import { type DatedReceipt, partsOf, type SmsPart, type TakenSms, withTrails } from '../../sms/sms-part.js';
import type { MemoryOutboxStore } from './memory-outbox-store.js';
import type { MemoryTables } from './memory-tables.js';

/** Parts of SMS and parked receipts in memory. */
export class MemoryPartStore extends PartStore {
  constructor(
    protected readonly tables: MemoryTables,
    protected readonly outbox: MemoryOutboxStore,
  ) {
    super();
  }

  override async record(taken: readonly TakenSms[], now: number): Promise<readonly Movement[]> {
    for (const sms of taken) {
      for (const part of partsOf(sms)) this.tables.parts.add({ ...part, expiresAt: sms.expiresAt });
    }
    return this.outbox.settle(withTrails(this.unpark(taken, now), taken));
  }

  override async receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly Movement[]> {
    return this.outbox.settle(receipts.flatMap((receipt) => this.apply(receipt) ?? this.park(receipt, parking)));
  }

  override async parts(messageId: string, position?: number): Promise<readonly SmsPart[]> {
    const { parts } = this.tables;
    return position === undefined ? parts.ofSend(messageId) : parts.of(messageId, position);
  }

  override async purge(now: number, limit: number): Promise<PartPurgeCount> {
    const { parts } = this.tables;
    const expired = [...parts.parked].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit);
    for (const [key] of expired) parts.parked.delete(key);
    return { parts: parts.purge(now, limit), receipts: expired.length };
  }

  /** Applies a receipt to its part; undefined when no part is known. */
  protected apply(receipt: DatedReceipt): Settlement[] | undefined {
    const { parts } = this.tables;
    const part = parts.find(receipt);
    const next = part && nextPart(part, receipt);
    if (!next) return part && [];
    parts.replace(next);
    return settlementOfParts(parts.of(next.messageId, next.position), receipt);
  }

  /** Applies what was parked for these SMS. */
  protected unpark(taken: readonly TakenSms[], now: number): Settlement[] {
    const { parked } = this.tables.parts;
    const ids = new Set(taken.flatMap(({ route, carrierIds }) => carrierIds.map((id) => `${id} ${route}`)));
    const waiting = [...parked].filter(
      ([
        ,
        {
          receipt: { route, ids: own },
          expiresAt,
        },
      ]) => expiresAt > now && own.some((id) => ids.has(`${id} ${route}`)),
    );
    return waiting.flatMap(([key, { receipt }]) => {
      const settlements = this.apply(receipt);
      if (settlements) parked.delete(key);
      return settlements ?? [];
    });
  }

  /** Keeps a receipt for later; the oldest make room. */
  protected park(receipt: DatedReceipt, { until, most }: Parking): [] {
    const { parked } = this.tables.parts;
    const key = receiptKey(receipt);
    if (!parked.has(key)) parked.set(key, { receipt, expiresAt: until });
    for (const oldest of [...parked.keys()].slice(0, Math.max(parked.size - most, 0))) parked.delete(oldest);
    return [];
  }
}
