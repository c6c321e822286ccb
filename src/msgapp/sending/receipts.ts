import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/clock.js';
import { pause, STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { atMost } from '../../common/concurrency/at-most.js';
import { StorageUnavailableError } from '../../common/errors.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import { MINUTE_MS } from '../../common/time.js';
import type { DeliveryUpdate } from '../../outbox/delivery-state.js';
import type { Outbox } from '../../outbox/outbox.js';
import type { OutboxStore } from '../../outbox/outbox-store.js';
import type { LinkEvent } from '../msgapp-transport.js';

type Receipt = Extract<LinkEvent, { kind: 'receipt' }>;
type Place = Pick<DeliveryUpdate, 'messageId' | 'position'>;

/** How many receipts a batch stores. */
const AT_A_TIME = 200;

/** How many receipts may wait to be stored, and how many may wait for their message. Above that the oldest are dropped. */
const WAITING_LIMIT = 10_000;

/** How long a receipt waits for its message, in milliseconds. */
const PARKED_MS = MINUTE_MS;

/** Receipts of a message that is not stored yet. Receipts may be repeated, so only the first of each kind is kept. */
interface Parked {
  /** On the clock's `elapsed`, in milliseconds. */
  readonly until: number;
  readonly receipts: Map<Receipt['status'], Receipt>;
}

/** The dependencies of `Receipts`. */
interface ReceiptParts {
  readonly channel: string;
  readonly store: OutboxStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly reportDeadlineMs: number;
}

/**
 * Applies receipts to their messages. A receipt may arrive before the result of the send is stored, or even before it is known.
 * The receipt then waits, so that `sent` is always stored first.
 */
export class Receipts {
  private readonly queue: Receipt[] = [];
  private readonly parked = new LRUCache<string, Parked>(atMost(WAITING_LIMIT));
  /** The places of recently sent messages, by reference. */
  private readonly places = new LRUCache<string, Place>(atMost(WAITING_LIMIT));
  /** The references of sends whose result is not stored yet, by message. */
  private readonly unstored = new LRUCache<string, string>(atMost(WAITING_LIMIT));
  private storing = false;

  constructor(private readonly parts: ReceiptParts) {}

  /** Called when a send returned a reference and its result is about to be stored. */
  handedOver(reference: string, place: Place): void {
    this.places.set(reference, place);
    this.unstored.set(keyOf(place), reference);
  }

  /** Called when a delivery's new state is stored. */
  stored(place: Place): void {
    const reference = this.unstored.get(keyOf(place));
    if (reference === undefined) return;
    this.unstored.delete(keyOf(place));
    const waiting = this.parkedUnder(reference);
    this.parked.delete(reference);
    for (const receipt of waiting?.receipts.values() ?? []) this.take(receipt);
  }

  /** Called when a connection delivers a receipt. */
  take(receipt: Receipt): void {
    this.queue.push(receipt);
    if (this.queue.length > WAITING_LIMIT) this.queue.shift();
    if (!this.storing) void this.store();
  }

  private async store(): Promise<void> {
    this.storing = true;
    let atATime = AT_A_TIME;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, atATime);
      try {
        await this.report(batch);
      } catch (error) {
        const fields = { code: faultCode(error), channel: this.parts.channel };
        faultLog('Msgapp', this.parts.clock).warn(`Receipts could not be stored: ${nameOf(error)}.`, fields);
        const isUnavailable = error instanceof StorageUnavailableError;
        // A receipt may have content that no database accepts. A failing receipt is retried alone, and then dropped.
        if (isUnavailable || batch.length > 1) this.queue.unshift(...batch);
        if (isUnavailable) await pause(this.parts.clock, STORAGE_RETRY_MS);
        else atATime = 1;
      }
    }
    this.storing = false;
  }

  private async report(batch: readonly Receipt[]): Promise<void> {
    const { store, channel, outbox } = this.parts;
    const asked = batch.map(({ reference }) => reference).filter((reference) => !this.places.has(reference));
    const found = asked.length > 0 ? await store.byReference(channel, [...new Set(asked)]) : [];
    const updates: DeliveryUpdate[] = [];
    for (const receipt of batch) {
      const place = this.places.get(receipt.reference);
      const places = place ? [place] : found.filter(({ reference }) => reference === receipt.reference);
      // The send may have returned during the query.
      if (places.length === 0 || (place && this.unstored.has(keyOf(place)))) this.park(receipt);
      else updates.push(...places.map((each) => this.updateOf(receipt, each)));
    }
    if (updates.length > 0) await outbox.settle(updates);
  }

  private updateOf({ reference, status, error, at }: Receipt, { messageId, position }: Place): DeliveryUpdate {
    return {
      messageId,
      position,
      status,
      reference,
      at,
      ...(error === undefined ? {} : { error }),
      ...(status === 'sent' ? { dueAt: at + this.parts.reportDeadlineMs } : {}),
      trail: [{ at, status }],
    };
  }

  private park(receipt: Receipt): void {
    const { reference, status } = receipt;
    const known = this.parkedUnder(reference);
    const parked = known ?? { until: this.parts.clock.elapsed() + PARKED_MS, receipts: new Map() };
    if (!parked.receipts.has(status)) parked.receipts.set(status, receipt);
    if (!known) this.parked.set(reference, parked);
  }

  private parkedUnder(reference: string): Parked | undefined {
    const parked = this.parked.get(reference);
    return parked && this.parts.clock.elapsed() < parked.until ? parked : undefined;
  }
}

function keyOf({ messageId, position }: Place): string {
  return `${messageId} ${position}`;
}
