import { DAY_MS } from '../../common/time.js';
import type { Writable } from '../../common/writable.js';
import { COMPLETE_STATUSES, WAITING_STATUSES } from '../../events/delivery-status.js';
import { OPTED_OUT } from '../../sms/opt-out/opt-out-directory.js';
import type { RecipientStatus } from '../campaign.api.js';
import type { Slice, SliceCounts } from '../campaign.js';

/** How many recipients of a send are in a state. */
export interface StateCount {
  /** The stored state of their deliveries. */
  readonly status: string;
  readonly optedOut: boolean;
  readonly recipients: number;
  /** The units refunded for them. */
  readonly refunded: number;
}

/** A slice with its present counts. */
export interface CountedSlice {
  readonly slice: Slice;
  readonly counts: SliceCounts;
  /** How many of its recipients wait for the carrier. */
  readonly waiting: number;
  /** Whether the counts can still change. */
  readonly open: boolean;
}

export const NO_COUNTS: SliceCounts = {
  queued: 0,
  sent: 0,
  delivered: 0,
  undelivered: 0,
  failed: 0,
  unknown: 0,
  canceled: 0,
  opted_out: 0,
  refunded: 0,
};

/** After this time, no carrier reports on an SMS any more. */
const LAST_REPORT_MS = 7 * DAY_MS;

/**
 * Adds up the states of a slice's recipients.
 * @param states those that the outbox still has. If retention has removed recipients, the last counts are final
 */
export function countSlice(slice: Slice, states: readonly StateCount[], now: number): CountedSlice {
  let found = 0;
  let waiting = 0;
  let isFinal = true;
  const counts: Writable<SliceCounts> = { ...NO_COUNTS };
  for (const { status, optedOut, recipients, refunded } of states) {
    found += recipients;
    counts[statusOf(status, optedOut ? OPTED_OUT : undefined)] += recipients;
    counts.refunded += refunded;
    if (isWaiting(status)) waiting += recipients;
    if (!isFinalStatus(status)) isFinal = false;
  }
  if (found < slice.recipients) {
    const last = slice.counts ?? { ...NO_COUNTS, unknown: slice.recipients };
    return { slice, counts: last, waiting: 0, open: false };
  }
  const isOld = waiting === 0 && now - slice.acceptedAt > LAST_REPORT_MS;
  return { slice, counts, waiting, open: !isFinal && !isOld };
}

/** The state of a campaign's recipient that has become an SMS, from the state and the error of its delivery. */
export function statusOf(status: string, error: string | undefined): Exclude<RecipientStatus, 'pending'> {
  if (isWaiting(status)) return 'queued';
  if (error === OPTED_OUT) return 'opted_out';
  return isShown(status) ? status : 'unknown';
}

function isShown(status: string): status is Exclude<RecipientStatus, 'pending'> {
  return status !== 'refunded' && Object.hasOwn(NO_COUNTS, status);
}

function isWaiting(status: string): boolean {
  return WAITING_STATUSES.some((each) => each === status);
}

/** `unknown` is complete, but a late report may still decide it. */
function isFinalStatus(status: string): boolean {
  return status !== 'unknown' && COMPLETE_STATUSES.some((each) => each === status);
}

export function addCounts(one: SliceCounts, other: SliceCounts): SliceCounts {
  const sum: Writable<SliceCounts> = { ...one };
  for (const field of FIELDS) sum[field] += other[field];
  return sum;
}

const FIELDS: readonly (keyof SliceCounts)[] = [
  'queued',
  'sent',
  'delivered',
  'undelivered',
  'failed',
  'unknown',
  'canceled',
  'opted_out',
  'refunded',
];
