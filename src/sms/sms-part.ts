import type { Settlement, TrailEntry } from '../outbox/settlement.js';
import type { CarrierReceipt, SmsReport } from './sms-transport.js';

/** Where one part stands: `sent` is open, `unknown` may still turn out, the rest is final. */
export type PartStatus = SmsReport['status'];

/** One part of one SMS as a carrier took it; a short SMS, or one that the carrier splits itself, has one. */
export interface SmsPart {
  readonly messageId: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  /** The hand-off that it belongs to, from 1: what a crash interrupted may have been handed over twice. */
  readonly attempt: number;
  /** From 1. */
  readonly part: number;
  /** How many parts that hand-off had. */
  readonly parts: number;
  readonly route: string;
  /** As the carrier gave it; `''`: it gave none, and no receipt will ever name this part. */
  readonly carrierId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly status: PartStatus;
  readonly error: string | undefined;
  /** Milliseconds since the epoch. */
  readonly recordedAt: number;
  /** The `at` of the receipt that made it what it is, which may be by the carrier's clock; before one, `recordedAt`. */
  readonly updatedAt: number;
}

/** One SMS that a carrier has taken, with the carrier's ids of its parts in their order. */
export interface TakenSms extends Pick<SmsPart, 'messageId' | 'position' | 'attempt' | 'route' | 'number'> {
  readonly carrierIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** When no receipt is expected any more, milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Kept with the state when a receipt has overtaken the hand-off's own settlement. */
  readonly trail: readonly TrailEntry[];
}

/** A receipt as it is stored and matched: with its time, and with an id at least. */
export type DatedReceipt = CarrierReceipt & {
  readonly at: number;
  /** True: `at` is the carrier's own time, by its clock. Otherwise it is when the receipt came. */
  readonly atByCarrier?: boolean;
};

/** The parts of an SMS that was just taken. */
export function partsOf({ carrierIds, at, expiresAt: _, trail: __, ...sms }: TakenSms): SmsPart[] {
  return carrierIds.map((carrierId, index) => ({
    ...sms,
    ...{ part: index + 1, parts: carrierIds.length, carrierId },
    ...{ status: 'sent', error: undefined, recordedAt: at, updatedAt: at },
  }));
}

/** Settlements from receipts that were here before their SMS: what is kept of the hand-off goes with the first for each. */
export function withTrails(settlements: readonly Settlement[], taken: readonly TakenSms[]): readonly Settlement[] {
  if (settlements.length === 0) return settlements;
  const trails = new Map(taken.map((sms) => [`${sms.position} ${sms.messageId}`, sms.trail]));
  return settlements.map((settlement) => {
    const key = `${settlement.position} ${settlement.messageId}`;
    const trail = trails.get(key) ?? [];
    trails.delete(key);
    return { ...settlement, trail: [...trail, ...(settlement.trail ?? [])] };
  });
}
