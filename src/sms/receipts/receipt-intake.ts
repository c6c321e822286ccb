import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Batcher } from '../../common/concurrency/batcher.js';
import { isPhoneNumber } from '../../common/phone-numbers/phone-number.js';
import { MINUTE_MS } from '../../common/time.js';
import { MessagingEvents } from '../../events/messaging-events.js';
import type { CarrierReceipt } from '../sms-transport.js';
import { carrierKey, carrierText } from './carrier-text.js';
import { PartStore } from './part-store.js';
import type { DatedReceipt } from './sms-part.js';

/** How long a receipt waits for its part, and for how long the storing of a part is retried, in milliseconds. */
export const PARKED_MS = 10 * MINUTE_MS;
/** The maximum number of parked receipts per route, so that a carrier whose ids never match cannot fill the disk. */
const MAX_PARKED = 50_000;
/** The maximum number of receipts per transaction. */
const MAX_RECEIPTS = 500;
/** The maximum number of ids that are looked up for one receipt. */
const MAX_IDS = 16;

/** Stores carriers' receipts. Carriers send them one by one. Receipts that wait at the same time share a transaction. */
@Injectable()
export class ReceiptIntake {
  private readonly stores = new Batcher<readonly DatedReceipt[], void>({
    perform: (batch) => this.store(batch),
    weightOf: (receipts) => receipts.length,
    maxWeight: MAX_RECEIPTS,
  });

  constructor(
    private readonly parts: PartStore,
    private readonly events: MessagingEvents,
    private readonly clock: Clock,
  ) {}

  /**
   * Resolves when the receipts are stored.
   * @throws StorageUnavailableError the carrier should send them again
   */
  receive(receipts: readonly CarrierReceipt[]): Promise<void> {
    const now = this.clock.now();
    const usable = receipts.flatMap((receipt) => usableReceipt(receipt, now));
    return usable.length === 0 ? Promise.resolve() : this.stores.add(usable);
  }

  private async store(batch: readonly (readonly DatedReceipt[])[]): Promise<readonly undefined[]> {
    const now = this.clock.now();
    const transitions = await this.parts.receive(batch.flat(), { now, until: now + PARKED_MS, most: MAX_PARKED });
    this.events.publishTransitions(transitions);
    await this.compareSegments(batch.flat());
    return batch.map(() => undefined);
  }

  /** Emits an event for each SMS of which a carrier reports another count of segments than we have. */
  private async compareSegments(receipts: readonly DatedReceipt[]): Promise<void> {
    const counted = receipts.filter(({ segments }) => segments !== undefined);
    if (counted.length === 0) return;
    for (const difference of await this.parts.differences(counted)) {
      this.events.emit('sms.segments_differ', difference);
    }
  }
}

function isCount(segments: number | undefined): segments is number {
  return Number.isSafeInteger(segments) && Number(segments) > 0;
}

/**
 * Returns a receipt in the form that is stored. Returns nothing for a receipt without an id, or for one that reports only an
 * intermediate state.
 */
function usableReceipt(
  { route, ids, number, otherNumber, status, whole, isRepeatByTime, segments, error, at, mayBeLast }: CarrierReceipt,
  now: number,
): DatedReceipt[] {
  const known = [...new Set(ids.map(carrierKey).filter((id) => id !== ''))].slice(0, MAX_IDS);
  if ((status === 'sent' && mayBeLast !== true) || known.length === 0) return [];
  const atByCarrier = Number.isSafeInteger(at);
  return [
    {
      route,
      ids: known,
      status,
      atByCarrier,
      // The carrier's time is stored unchanged, even if it is ahead of our clock, because it is compared with the time of a
      // repeat.
      at: at !== undefined && atByCarrier ? at : now,
      ...(whole === true ? { whole } : {}),
      ...(isRepeatByTime === true ? { isRepeatByTime } : {}),
      ...(isCount(segments) ? { segments } : {}),
      // A number in another form cannot be compared with ours.
      ...(isPhoneNumber(number) ? { number } : {}),
      ...(isPhoneNumber(number) && isPhoneNumber(otherNumber) ? { otherNumber } : {}),
      ...(error === undefined ? {} : { error: carrierText(error) }),
    },
  ];
}
