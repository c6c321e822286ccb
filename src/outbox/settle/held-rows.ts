import type { Metadata } from '../../events/events.api.js';
import type { DeliveryUpdate } from '../delivery-state.js';
import type { Delivery } from '../outbox-records.js';

/**
 * What a claim, or a direct delivery, knows of a recipient's row. The row stays so while it is `sending` with this lease,
 * because only a settlement changes these fields, and it ends the lease.
 */
export interface HeldRow {
  readonly delivery: Delivery;
  /** The end of the lease, milliseconds since the epoch. */
  readonly leaseUntil: number;
  readonly units: number;
  /** The number of attempts in the trail. */
  readonly storedAttempts: number;
  readonly message: HeldMessage;
}

/** The fields of a message that no update changes, besides those of its deliveries. */
export interface HeldMessage {
  /** The number of recipients. */
  readonly recipients: number;
  /** The charge of the whole message. */
  readonly units: number;
  readonly metadata: Metadata | undefined;
}

/** The rows of deliveries and of their updates. They are kept here because channels see deliveries, and need none of it. */
const rows = new WeakMap<Delivery | DeliveryUpdate, HeldRow>();

export function holdRow(row: HeldRow): void {
  rows.set(row.delivery, row);
}

/** Lets an update be stored with what is known of the row of its delivery. */
export function passRow(delivery: Delivery, update: DeliveryUpdate): void {
  const row = rows.get(delivery);
  if (row) rows.set(update, row);
}

/** The rows of updates; undefined if one of them is not known. */
export function heldRows(updates: readonly DeliveryUpdate[]): ReadonlyMap<DeliveryUpdate, HeldRow> | undefined {
  const held = new Map<DeliveryUpdate, HeldRow>();
  for (const update of updates) {
    const row = rows.get(update);
    if (!row) return undefined;
    held.set(update, row);
  }
  return held;
}
