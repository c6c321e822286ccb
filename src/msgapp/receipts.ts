import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../common/clock.js';
import { StorageUnavailableError } from '../common/errors.js';
import { nameOf } from '../common/log.js';
import type { DeliveryUpdate } from '../outbox/delivery-state.js';
import type { Outbox } from '../outbox/outbox.js';
import type { DeliveryTransition, OutboxStore } from '../outbox/outbox-store.js';
import type { LinkEvent } from './msgapp-transport.js';

type Receipt = Extract<LinkEvent, { kind: 'receipt' }>;
type Place = Pick<DeliveryUpdate, 'messageId' | 'position'>;

/** Receipts that are stored together. */
const AT_A_TIME = 200;

/** Receipts that wait to be stored, and those that wait for their message; what is more is forgotten, the oldest first. */
const WAITING_LIMIT = 10_000;

/** How long a receipt waits for its message. */
const PARKED_MS = 60_000;

/** How long receipts wait for a database that does not answer. */
const PAUSE_MS = 1000;

/** Receipts that wait for their message: of each kind the first, since anybody may repeat one. */
interface Parked {
  /** On the clock's `elapsed`, milliseconds. */
  readonly until: number;
  readonly receipts: Map<Receipt['status'], Receipt>;
}

/** What receipts work with. */
export interface ReceiptParts {
  readonly channel: string;
  readonly store: OutboxStore;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly reportDeadlineMs: number;
}

/**
 * Brings receipts to the messages they are about. A receipt may come before the hand-off that it answers is stored, or even
 * known: then it waits, so that `sent` is always stored first.
 */
export class Receipts {
  private readonly queue: Receipt[] = [];
  private readonly parked = new LRUCache<string, Parked>({ max: WAITING_LIMIT });
  /** Messages that were handed over lately, by reference. */
  private readonly places = new LRUCache<string, Place>({ max: WAITING_LIMIT });
  /** The references of hand-offs that are not stored yet, by message. */
  private readonly unstored = new LRUCache<string, string>({ max: WAITING_LIMIT });
  private storing = false;
  private readonly log = new Logger('Msgapp');

  constructor(private readonly parts: ReceiptParts) {}

  /** A hand-off was answered with a reference; it is about to be stored. */
  handedOver(reference: string, place: Place): void {
    this.places.set(reference, place);
    this.unstored.set(keyOf(place), reference);
  }

  /** A delivery's new state is stored. */
  stored(movement: DeliveryTransition): void {
    const reference = this.unstored.get(keyOf(movement));
    if (reference === undefined || movement.status === 'sending') return;
    this.unstored.delete(keyOf(movement));
    const waiting = this.parkedUnder(reference);
    this.parked.delete(reference);
    for (const receipt of waiting?.receipts.values() ?? []) this.take(receipt);
  }

  /** A connection gave a receipt. */
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
        this.log.warn(`Receipts could not be stored: ${nameOf(error)}.`);
        const isAway = error instanceof StorageUnavailableError;
        // What comes from outside may be such that no database takes it: then it goes alone, and is forgotten.
        if (isAway || batch.length > 1) this.queue.unshift(...batch);
        if (isAway) await new Promise<void>((resolve) => this.parts.clock.after(PAUSE_MS, resolve));
        else atATime = 1;
      }
    }
    this.storing = false;
  }

  private async report(batch: readonly Receipt[]): Promise<void> {
    const { store, channel, outbox } = this.parts;
    const asked = batch.map(({ reference }) => reference).filter((reference) => !this.places.has(reference));
    const found = asked.length > 0 ? await store.byReference(channel, [...new Set(asked)]) : [];
    const settlements: DeliveryUpdate[] = [];
    for (const receipt of batch) {
      const place = this.places.get(receipt.reference);
      const places = place ? [place] : found.filter(({ reference }) => reference === receipt.reference);
      // Its hand-off may have been answered while the store was asked.
      if (places.length === 0 || (place && this.unstored.has(keyOf(place)))) this.park(receipt);
      else settlements.push(...places.map((each) => this.settlementOf(receipt, each)));
    }
    if (settlements.length > 0) await outbox.report(settlements);
  }

  private settlementOf({ reference, status, error, at }: Receipt, { messageId, position }: Place): DeliveryUpdate {
    return {
      ...{ messageId, position, status, reference, at },
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
