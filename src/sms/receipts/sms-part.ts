import { createHash } from 'node:crypto';
import { phoneOf } from '../../common/phone-numbers/phone-spellings.js';
import type { DeliveryUpdate, TrailEntry } from '../../outbox/delivery-state.js';
import type { CarrierReceipt, SmsReport } from '../sms-transport.js';

/** The status of one part: `sent` is open, `unknown` may still change, all others are final. */
export type PartStatus = SmsReport['status'];

/** One part of an SMS that a carrier has accepted. A short SMS, or one that the carrier splits itself, has one part. */
export interface SmsPart {
  readonly messageId: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  /** The attempt that the part belongs to, from 1. After a crash an SMS may have been submitted twice. */
  readonly attempt: number;
  /** The number of the part. The first part is 1. */
  readonly part: number;
  /** The number of parts of that attempt. */
  readonly parts: number;
  readonly route: string;
  /** The carrier's id of the part. `''` if the carrier gave none. Then no receipt can name the part. */
  readonly carrierId: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly status: PartStatus;
  readonly error: string | undefined;
  /** Milliseconds since the epoch. */
  readonly recordedAt: number;
  /** The `at` of the receipt that set the status, possibly by the carrier's clock. Before a receipt it is `recordedAt`. */
  readonly updatedAt: number;
}

/** One SMS that a carrier has accepted, with the carrier's ids of its parts in their order. */
export interface TakenSms extends Pick<SmsPart, 'messageId' | 'position' | 'attempt' | 'route' | 'number'> {
  readonly carrierIds: readonly string[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The time after which no receipt is expected, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** The trail of the attempt. It is stored with the status if a receipt arrives before the result of the attempt is stored. */
  readonly trail: readonly TrailEntry[];
}

/** A receipt in the form that is stored and matched, with a time and at least one id. */
export type DatedReceipt = CarrierReceipt & {
  readonly at: number;
  /** True: `at` is the carrier's time, by its own clock. Otherwise `at` is the time at which the receipt arrived. */
  readonly atByCarrier?: boolean;
};

/** Returns the parts of an SMS that a carrier has just accepted. */
export function partsOf({ carrierIds, at, expiresAt: _, trail: __, ...sms }: TakenSms): SmsPart[] {
  return carrierIds.map((carrierId, index) => ({
    ...sms,
    part: index + 1,
    parts: carrierIds.length,
    carrierId,
    status: 'sent',
    error: undefined,
    recordedAt: at,
    updatedAt: at,
  }));
}

/**
 * Adds trails to updates by receipts that arrived before their SMS was recorded. The first update of each SMS gets the trail of
 * its attempt.
 */
export function withTrails(updates: readonly DeliveryUpdate[], taken: readonly TakenSms[]): readonly DeliveryUpdate[] {
  if (updates.length === 0) return updates;
  const trails = new Map(taken.map((sms) => [`${sms.position} ${sms.messageId}`, sms.trail]));
  return updates.map((update) => {
    const key = `${update.position} ${update.messageId}`;
    const trail = trails.get(key) ?? [];
    trails.delete(key);
    return { ...update, trail: [...trail, ...(update.trail ?? [])] };
  });
}

const RANK: Readonly<Record<PartStatus, number>> = { sent: 0, unknown: 1, delivered: 2, undelivered: 2, failed: 2 };

/** Returns the part after a receipt. Undefined if the receipt brings no news, because a status only moves forward. */
export function nextPart(part: SmsPart, { status, error, at }: DatedReceipt): SmsPart | undefined {
  if (RANK[status] <= RANK[part.status]) return undefined;
  return { ...part, status, error, updatedAt: at };
}

/**
 * Whether a receipt repeats the one that closed another part of the same attempt. It can only be known of a carrier whose times
 * are exact (`isRepeatByTime`), because other carriers give the parts of an SMS the same id and the same minute.
 */
export function isRepeat(
  { status, at, atByCarrier, isRepeatByTime }: DatedReceipt,
  part: SmsPart,
  parts: readonly SmsPart[],
) {
  if (isRepeatByTime !== true || atByCarrier !== true) return false;
  return parts.some(
    (each) =>
      each.attempt === part.attempt &&
      each.carrierId === part.carrierId &&
      each.status === status &&
      each.updatedAt === at,
  );
}

/**
 * Whether a receipt without news for its part may belong to an SMS that is not recorded yet, because carriers reuse ids. This
 * needs a closed part and a receipt with the carrier's own time. The receipt then belongs to another SMS if its time is later
 * than the `updatedAt` of every part that it could belong to.
 *
 * A repeated receipt has the time of the original. So it is never later and can never make another SMS `delivered`. The carrier's
 * clock is only compared with itself. Without such a time nobody can distinguish a repeat from the receipt of another SMS with
 * the same id and number. The receipt is then dropped, and that SMS stays open until its deadline, because a wrong status would
 * be worse.
 */
export function mayBeForAnother(part: SmsPart, { status, atByCarrier }: DatedReceipt): boolean {
  return RANK[part.status] === RANK.delivered && status !== 'sent' && atByCarrier === true;
}

/**
 * Returns the last digits of a number, which all its spellings share, because numbering plans and prefixes change only the digits
 * before them.
 */
export function endOfNumber(number: string): string {
  return number.slice(-6);
}

/**
 * Whether two different numbers may be spellings of one phone. This is so if one number is the other with digits before it or
 * inserted into it. Examples: `97000001` and `22997000001` (without the country code), `2290197000001` and `22997000001` (Benin
 * since 2024). Numbers of equal length are different phones, unless a numbering plan replaced digits (Gabon in 2019).
 */
export function mayBeSpellings(one: string, other: string): boolean {
  if (phoneOf(one) === phoneOf(other)) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  let before = 0;
  while (before < short.length && short[before] === long[before]) before++;
  return short.length < long.length && long.endsWith(short.slice(before)) && endOfNumber(short) === endOfNumber(long);
}

/** The status of a whole SMS. */
interface AggregateStatus {
  readonly status: Exclude<PartStatus, 'sent'>;
  readonly error: string | undefined;
}

/**
 * Returns the status of an SMS by the statuses of its parts. Undefined while it is open.
 *
 * An attempt is `delivered` if every part is delivered. It is `undelivered` as soon as one part is undelivered, or as soon as one
 * part has failed and another was delivered, because the phone cannot assemble the text and the carrier has done part of its
 * work. It is `failed`, which is refunded, only if the carrier refused every part. It is `unknown` if no part is open and at
 * least one is unknown. Parts without an id stay open until the outbox's report deadline. If there are several attempts, the best
 * status counts.
 */
export function aggregatePartStatus(parts: readonly SmsPart[]): AggregateStatus | undefined {
  const statuses = new Set<AggregateStatus['status'] | undefined>();
  for (const attempt of new Set(parts.map((part) => part.attempt))) {
    const ofAttempt = parts.filter((part) => part.attempt === attempt);
    statuses.add(attemptStatus(new Set(ofAttempt.map(({ status }) => status))));
  }
  const status = BEST_FIRST.find((each) => statuses.has(each));
  return status && { status, error: parts.find((part) => part.status === status)?.error };
}

const BEST_FIRST = ['delivered', undefined, 'unknown', 'undelivered', 'failed'] as const;

function attemptStatus(seen: ReadonlySet<PartStatus>): AggregateStatus['status'] | undefined {
  if (seen.has('undelivered') || (seen.has('failed') && seen.has('delivered'))) return 'undelivered';
  if (seen.has('sent')) return undefined;
  if (seen.has('unknown')) return 'unknown';
  return seen.has('failed') ? 'failed' : 'delivered';
}

/**
 * Returns the outbox's update for a receipt that reports the hand-over to the phone's network and may be the last receipt: the
 * SMS stays `sent`, without a deadline. Returns none for an SMS of several parts if the receipt is for one of them.
 */
export function updateOfLasting(
  parts: readonly SmsPart[],
  { status, route, whole, at: reportedAt }: DatedReceipt,
  now: number,
): DeliveryUpdate[] {
  const [part, ...others] = parts;
  const isAboutAll = others.length === 0 || whole === true;
  if (status !== 'sent' || part?.status !== 'sent' || !isAboutAll) return [];
  const { messageId, position, recordedAt } = part;
  const at = Math.max(Math.min(now, reportedAt), recordedAt);
  return [{ messageId, position, status, at, dueAt: null, trail: [{ at, route, receipt: status }] }];
}

/** Returns the outbox's update for an SMS by the status of its parts. Returns none while the SMS is open. */
export function updateOfParts(parts: readonly SmsPart[], { route }: DatedReceipt, now: number): DeliveryUpdate[] {
  const aggregate = aggregatePartStatus(parts);
  const [part] = parts;
  if (!aggregate || !part) return [];
  const { messageId, position } = part;
  const { status, error } = aggregate;
  // A carrier's clock may be wrong or in another zone, so the time is limited to the range from acceptance to now.
  const reportedAt = Math.min(now, Math.max(...parts.map(({ updatedAt }) => updatedAt)));
  const at = Math.max(reportedAt, ...parts.map(({ recordedAt }) => recordedAt));
  const step = { at, route, receipt: status, ...(error === undefined ? {} : { code: error }) };
  return [{ messageId, position, status, at, trail: [step], ...(error === undefined ? {} : { error }) }];
}

/** Returns a hash of a receipt's content. A repeated receipt has the same key. */
export function receiptKey({ route, ids, number, status, error, at }: DatedReceipt): string {
  return createHash('sha256')
    .update(JSON.stringify([route, ids, number, status, error, at]))
    .digest('hex');
}
