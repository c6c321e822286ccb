import { createHash } from 'node:crypto';
import type { DeliveryUpdate, TrailEntry } from '../../outbox/delivery-state.js';
import type { CarrierReceipt, SmsReport } from '../sms-transport.js';

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
export function withTrails(
  settlements: readonly DeliveryUpdate[],
  taken: readonly TakenSms[],
): readonly DeliveryUpdate[] {
  if (settlements.length === 0) return settlements;
  const trails = new Map(taken.map((sms) => [`${sms.position} ${sms.messageId}`, sms.trail]));
  return settlements.map((settlement) => {
    const key = `${settlement.position} ${settlement.messageId}`;
    const trail = trails.get(key) ?? [];
    trails.delete(key);
    return { ...settlement, trail: [...trail, ...(settlement.trail ?? [])] };
  });
}

const RANK: Readonly<Record<PartStatus, number>> = { sent: 0, unknown: 1, delivered: 2, undelivered: 2, failed: 2 };

/** A part after a receipt for it; undefined when the receipt says no more than is known: states only move forward. */
export function nextPart(part: SmsPart, { status, error, at }: DatedReceipt): SmsPart | undefined {
  if (RANK[status] <= RANK[part.status]) return undefined;
  return { ...part, status, error, updatedAt: at };
}

/**
 * Whether a receipt that says no more than is known of its part may be for an SMS that is not recorded yet, as carriers
 * give some ids again: only when that part is closed, and the carrier has put its own time on the receipt. It then is for
 * another SMS when that time is later than the last word on every part it could be for, which is an `updatedAt`, or none.
 *
 * A repeat has the time of what it repeats, so it is never later, and can never make another SMS `delivered`; the carrier's
 * clock is only compared with itself. Without such a time a repeat looks like the receipt of another SMS with that id, of
 * the same number even: it is dropped, and that other SMS stays open until its deadline rather than be told a lie.
 */
export function mayBeForAnother(part: SmsPart, { status, atByCarrier }: DatedReceipt): boolean {
  return RANK[part.status] === RANK.delivered && status !== 'sent' && atByCarrier === true;
}

/** Of several parts under one id a receipt is for an open one, and of those for the newest: sort with this, take the first. */
export function byClaim(a: SmsPart, b: SmsPart): number {
  return RANK[a.status] - RANK[b.status] || b.recordedAt - a.recordedAt || a.part - b.part;
}

/** What has become of a whole SMS. */
interface AggregateStatus {
  readonly status: Exclude<PartStatus, 'sent'>;
  readonly error: string | undefined;
}

/**
 * What the parts of one SMS say of the whole; undefined while that is open.
 *
 * Of one hand-off: `delivered` when every part is; `undelivered` as soon as one part is, or as soon as one has failed and
 * another arrived, for then no phone can put it together and the carrier has done some of its work; `failed`, which is
 * refunded, only when the carrier refused every part; `unknown` when nothing is open and some parts are in doubt. Parts
 * without an id stay open, the outbox's report deadline ends that. Of several hand-offs of one SMS the best counts.
 */
export function aggregatePartStatus(parts: readonly SmsPart[]): AggregateStatus | undefined {
  const fates = new Set<AggregateStatus['status'] | undefined>();
  for (const attempt of new Set(parts.map((part) => part.attempt))) {
    fates.add(attemptFate(new Set(parts.filter((part) => part.attempt === attempt).map(({ status }) => status))));
  }
  const status = BEST_FIRST.find((each) => fates.has(each));
  return status && { status, error: parts.find((part) => part.status === status)?.error };
}

const BEST_FIRST = ['delivered', undefined, 'unknown', 'undelivered', 'failed'] as const;

function attemptFate(seen: ReadonlySet<PartStatus>): AggregateStatus['status'] | undefined {
  if (seen.has('undelivered') || (seen.has('failed') && seen.has('delivered'))) return 'undelivered';
  if (seen.has('sent')) return undefined;
  if (seen.has('unknown')) return 'unknown';
  return seen.has('failed') ? 'failed' : 'delivered';
}

/**
 * What the outbox is to be told when a receipt says that an SMS went on to the phone's network and that no other receipt may
 * come: it stays `sent`, without a deadline. Nothing for an SMS of several parts, of which this receipt names one.
 */
export function settlementOfLasting(
  parts: readonly SmsPart[],
  { status, route, at: said }: DatedReceipt,
  now: number,
): DeliveryUpdate[] {
  const [part, ...others] = parts;
  if (status !== 'sent' || part?.status !== 'sent' || others.length > 0) return [];
  const { messageId, position, recordedAt } = part;
  const at = Math.max(Math.min(now, said), recordedAt);
  return [{ messageId, position, status, at, dueAt: null, trail: [{ at, route, receipt: status }] }];
}

/** What the outbox is to be told of an SMS whose parts now stand so; nothing while its fate is open. */
export function settlementOfParts(parts: readonly SmsPart[], { route }: DatedReceipt, now: number): DeliveryUpdate[] {
  const fate = aggregatePartStatus(parts);
  const [part] = parts;
  if (!fate || !part) return [];
  const { messageId, position } = part;
  const { status, error } = fate;
  // A carrier's clock may be wrong or in another zone: not in the future, and never before the SMS was taken.
  const said = Math.min(now, Math.max(...parts.map(({ updatedAt }) => updatedAt)));
  const at = Math.max(said, ...parts.map(({ recordedAt }) => recordedAt));
  const step = { at, route, receipt: status, ...(error === undefined ? {} : { code: error }) };
  return [{ messageId, position, status, at, trail: [step], ...(error === undefined ? {} : { error }) }];
}

/** Names a receipt by what it says: the same one given again has the same key. */
export function receiptKey({ route, ids, number, status, error, at }: DatedReceipt): string {
  return createHash('sha256')
    .update(JSON.stringify([route, ids, number, status, error, at]))
    .digest('hex');
}
