import { Injectable } from '@nestjs/common';
import { Batcher } from '../../common/batcher.js';
import { Clock } from '../../common/clock.js';
import { isPhoneNumber } from '../../common/phone-number.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { CarrierReceipt } from '../sms-transport.js';
import { carrierKey, carrierText } from './carrier-text.js';
import { PartStore } from './part-store.js';
import type { DatedReceipt } from './sms-part.js';

/** How long a receipt waits for its part, in milliseconds. A part that cannot be stored at once is tried for as long. */
export const PARKED_MS = 600_000;
/** How many receipts of a route may wait at a time: a carrier whose receipts all miss must not fill the disk. */
const MOST_PARKED = 50_000;
/** The most receipts that share a transaction. */
const TOGETHER = 500;
/** The most ids that are tried for one receipt. */
const MOST_IDS = 16;

/** Stores carriers' receipts. Carriers send them one by one; what waits at the same moment is stored together. */
@Injectable()
export class ReceiptIntake {
  private readonly stores = new Batcher<readonly DatedReceipt[], void>({
    perform: (batch) => this.store(batch),
    weightOf: (receipts) => receipts.length,
    maxWeight: TOGETHER,
  });

  constructor(
    private readonly parts: PartStore,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  /** Resolves when they are stored. @throws StorageUnavailableError when the carrier should send them again */
  receive(receipts: readonly CarrierReceipt[]): Promise<void> {
    const now = this.clock.now();
    const usable = receipts.flatMap((receipt) => usableReceipt(receipt, now));
    return usable.length === 0 ? Promise.resolve() : this.stores.add(usable);
  }

  private async store(batch: readonly (readonly DatedReceipt[])[]): Promise<readonly undefined[]> {
    const now = this.clock.now();
    const moved = await this.parts.receive(batch.flat(), { now, until: now + PARKED_MS, most: MOST_PARKED });
    for (const movement of moved) this.events.emit('delivery.moved', movement);
    return batch.map(() => undefined);
  }
}

/** A receipt as it is stored; nothing for one that says nothing: of no part, or only that it is on its way. */
function usableReceipt(
  { route, ids, number, status, error, at, mayBeLast }: CarrierReceipt,
  now: number,
): DatedReceipt[] {
  const known = [...new Set(ids.filter((id) => id !== '').map(carrierKey))].slice(0, MOST_IDS);
  if ((status === 'sent' && mayBeLast !== true) || known.length === 0) return [];
  const atByCarrier = Number.isSafeInteger(at);
  return [
    {
      // As the carrier has it, also ahead of our clock: it is compared with the time of a repeat.
      ...{ route, ids: known, status, atByCarrier, at: at !== undefined && atByCarrier ? at : now },
      // What is no number as we know them cannot be compared with ours.
      ...(number !== undefined && isPhoneNumber(number) ? { number } : {}),
      ...(error === undefined ? {} : { error: carrierText(error) }),
    },
  ];
}
