import type { DeliveryUpdate } from '../../outbox/delivery-state.js';
import type { DeliveryTransition, OutboxStore } from '../../outbox/outbox-store.js';
import { type Parking, type PartPurgeCount, PartStore } from '../../sms/receipts/part-store.js';
import {
  type DatedReceipt,
  mayBeForAnother,
  nextPart,
  partsOf,
  receiptKey,
  type SmsPart,
  settlementOfLasting,
  settlementOfParts,
  type TakenSms,
  withTrails,
} from '../../sms/receipts/sms-part.js';
import type { MemoryTables } from './memory-tables.js';

/** Parts of SMS and parked receipts in memory. */
export class MemoryPartStore extends PartStore {
  constructor(
    protected readonly tables: MemoryTables,
    protected readonly outbox: OutboxStore,
  ) {
    super();
  }

  override async record(taken: readonly TakenSms[], now: number): Promise<readonly DeliveryTransition[]> {
    for (const sms of taken) {
      for (const part of partsOf(sms)) this.tables.parts.add({ ...part, expiresAt: sms.expiresAt });
    }
    const waiting = this.waitingFor(taken, now);
    const { settlements, unmatched } = this.apply(waiting, now);
    const left = new Set(unmatched);
    for (const receipt of waiting) if (!left.has(receipt)) this.tables.parts.parked.delete(receiptKey(receipt));
    return this.outbox.settle(withTrails(settlements, taken));
  }

  override async receive(receipts: readonly DatedReceipt[], parking: Parking): Promise<readonly DeliveryTransition[]> {
    const { settlements, unmatched } = this.apply(receipts, parking.now);
    this.park(unmatched, parking);
    return this.outbox.settle(settlements);
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

  /** Applies receipts to their parts; `unmatched` are those that may be for parts that are not known yet. */
  protected apply(
    receipts: readonly DatedReceipt[],
    now: number,
  ): { readonly settlements: readonly DeliveryUpdate[]; readonly unmatched: readonly DatedReceipt[] } {
    const { parts } = this.tables;
    const settlements: DeliveryUpdate[] = [];
    const unmatched: DatedReceipt[] = [];
    const idle: DatedReceipt[] = [];
    for (const receipt of receipts) {
      const part = parts.find(receipt);
      const next = part && nextPart(part, receipt);
      if (next) {
        parts.replace(next);
        settlements.push(...settlementOfParts(parts.of(next.messageId, next.position), receipt, now));
      } else if (!part) unmatched.push(receipt);
      else {
        settlements.push(...settlementOfLasting(parts.of(part.messageId, part.position), receipt, now));
        if (mayBeForAnother(part, receipt)) idle.push(receipt);
      }
    }
    unmatched.push(...idle.filter((receipt) => receipt.at > parts.lastWord(receipt)));
    return { settlements, unmatched };
  }

  /** What was parked under an id of these SMS, in the order it came; what came together, in the order it happened. */
  protected waitingFor(taken: readonly TakenSms[], now: number): DatedReceipt[] {
    const ids = new Set(taken.flatMap(({ route, carrierIds }) => carrierIds.map((id) => `${id} ${route}`)));
    const waiting = [...this.tables.parts.parked.values()].filter(
      ({ receipt, expiresAt }) => expiresAt > now && receipt.ids.some((id) => ids.has(`${id} ${receipt.route}`)),
    );
    waiting.sort((a, b) => a.expiresAt - b.expiresAt || a.receipt.at - b.receipt.at);
    return waiting.map(({ receipt }) => receipt);
  }

  /** Keeps receipts for later. */
  protected park(receipts: readonly DatedReceipt[], { until, most }: Parking): void {
    const { parked } = this.tables.parts;
    for (const receipt of receipts) {
      const key = receiptKey(receipt);
      if (!parked.has(key)) parked.set(key, { receipt, expiresAt: until });
    }
    for (const route of new Set(receipts.map((receipt) => receipt.route))) this.makeRoom(route, most);
  }

  /** Forgets the oldest receipts of a route that keeps too many. */
  private makeRoom(route: string, most: number): void {
    const { parked } = this.tables.parts;
    const own = [...parked].filter(([, { receipt }]) => receipt.route === route);
    if (own.length <= most) return;
    own.sort(([a, { expiresAt: first }], [b, { expiresAt: second }]) => first - second || (a < b ? -1 : 1));
    for (const [key] of own.slice(0, own.length - most)) parked.delete(key);
  }
}
