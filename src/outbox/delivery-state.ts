import { DELIVERY_STATES, type DeliveryStatus, type PublishedStatus } from '../events/delivery-status.js';

export type { DeliveryStatus } from '../events/delivery-status.js';

/**
 * The state that the account sees. It only moves forward: a delivery that is queued for another attempt is still shown
 * as `sending`, with the reason of the last attempt in `error`.
 */
export function shownStatus({
  status,
  error,
}: {
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
}): DeliveryStatus {
  return status === 'queued' && error !== undefined ? 'sending' : status;
}

/** A stored step of a delivery. Never contains a text or a secret. */
export type TrailEntry = AttemptEntry | EventEntry;

interface EntryDetails {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly [detail: string]: string | number | undefined;
}

/** An attempt to submit a delivery to a carrier. */
export interface AttemptEntry extends EntryDetails {
  /** The kind of the attempt's result. */
  readonly outcome: string;
}

/** A state that a delivery reached, or a report of a carrier. */
export interface EventEntry extends EntryDetails {
  readonly outcome?: undefined;
}

/** Whether an entry is an attempt. */
export function isAttempt(entry: TrailEntry): entry is AttemptEntry {
  return typeof entry.outcome === 'string';
}

/** The number of attempts in a trail. */
export function countAttempts(trail: readonly TrailEntry[]): number {
  let count = 0;
  for (const entry of trail) if (isAttempt(entry)) count++;
  return count;
}

/** A new state of one recipient's delivery, from an attempt or from a later report of the carrier. */
export interface DeliveryUpdate {
  readonly messageId: string;
  /** The recipient's position in the send, from 0. */
  readonly position: number;
  /** The new state. `queued`: the delivery was not sent and will be tried again at `dueAt`. */
  readonly status: PublishedStatus | 'queued';
  /**
   * The attempt that this update comes from; undefined for a report of the carrier. `queued`, `failed` and `unknown` of
   * an attempt are applied only while the attempt still has the lease.
   */
  readonly attempt?: number;
  /**
   * The attempt that a report of the carrier is about, if the carrier's acceptance of this attempt is not stored. The
   * report is applied only while the delivery is `unknown` after this attempt and no earlier attempt may have been
   * accepted. `every`: the carrier treats all attempts as one message, so the report is applied while the delivery is
   * `unknown`. Undefined: the report is applied in any state.
   */
  readonly reportedAttempt?: number | 'every';
  /**
   * With `queued`: nothing was tried, so the claim with this lease does not count as an attempt. The next claim gets
   * the same attempt number. If this update arrives twice, the end of the lease distinguishes the two claims.
   */
  readonly uncounted?: { readonly leaseUntil: number };
  /**
   * True, with `queued`: until `dueAt` the delivery does not hold up the later ones of its lane. It then enters the lane
   * at the place of that time.
   */
  readonly leavesLane?: boolean;
  /**
   * A time in milliseconds since the epoch. With `queued`, the time of the next attempt. With `sent`, the time at which
   * the delivery becomes `unknown` if no report has come. `null` with `sent`: no report is expected. This also removes
   * the deadline of a delivery that is already `sent`.
   */
  readonly dueAt?: number | null;
  /** True: the carrier may have accepted the attempt, so later claims of the delivery are marked as doubtful. */
  readonly doubtful?: boolean;
  /** A short reason, for example the carrier's code. It is shown to the account. */
  readonly error?: string;
  /** The carrier's id of the message. */
  readonly reference?: string;
  /** Entries to store when the state changes. */
  readonly trail?: readonly TrailEntry[];
  /** The time of the change, milliseconds since the epoch. */
  readonly at: number;
}

/** A recipient's row as a store reads it under lock. */
export interface DeliveryRow {
  readonly status: DeliveryStatus;
  readonly units: number;
  /**
   * How often the delivery was claimed, without `uncounted` claims. This can differ from the number of attempts in its
   * trail, which a store counts by itself: a claim that crashed stores none, and a claim that tries several carriers
   * stores one for each.
   */
  readonly attempt: number;
  /** True: an attempt before the last claim may have been accepted. Default false. */
  readonly doubtful?: boolean;
  /**
   * The time of the next attempt, the end of the lease or the report deadline, depending on the status, in milliseconds
   * since the epoch.
   */
  readonly dueAt: number | null;
}

/** The new values of a recipient's row. */
export interface DeliveryChange {
  readonly status: DeliveryStatus;
  /** Milliseconds since the epoch: the next attempt or the report deadline; null: none. */
  readonly dueAt: number | null;
  /** Units that are refunded to the account. */
  readonly refund: number;
  /** The number of attempts, if it changes. */
  readonly attempt?: number;
}

/**
 * The state machine of a delivery. States move forward: the state of an update must have a higher rank than that of the
 * row, with these exceptions.
 *
 * - `queued`, for another attempt, is the only step back. It is allowed from `sending`, for the attempt that has the
 *   lease.
 * - `sent` on `sent` keeps the state; with `dueAt: null` the report deadline ends.
 * - `canceled` is applied only to a delivery that waits for an attempt and that no carrier may have accepted.
 * - `failed` and `unknown` of an attempt are applied only while the attempt has the lease.
 * - A report on one attempt (`reportedAttempt`) is applied only if the delivery is `unknown` after that attempt.
 * - After `delivered`, only `read` is applied. A late `undelivered` or `failed` changes nothing and refunds nothing.
 *
 * @returns the change; undefined if the update changes nothing
 */
export function nextState(row: DeliveryRow, update: DeliveryUpdate): DeliveryChange | undefined {
  const { status, attempt, reportedAttempt } = update;
  if (reportedAttempt !== undefined && !isUnknownSince(row, reportedAttempt)) return undefined;
  const holdsLease = row.status === 'sending' && attempt === row.attempt;
  if (status === 'queued') {
    if (!holdsLease) return undefined;
    const change = { status, dueAt: update.dueAt ?? update.at, refund: 0 };
    if (update.uncounted === undefined) return change;
    return update.uncounted.leaseUntil === row.dueAt ? { ...change, attempt: row.attempt - 1 } : undefined;
  }
  if (status === 'canceled') {
    return row.status === 'queued' && row.doubtful !== true ? { status, dueAt: null, refund: row.units } : undefined;
  }
  if (status === 'sent' && row.status === 'sent') {
    return update.dueAt === null && row.dueAt !== null ? { status, dueAt: null, refund: 0 } : undefined;
  }
  if (attempt !== undefined && !holdsLease && (status === 'failed' || status === 'unknown')) return undefined;
  if (row.status === 'delivered' ? status !== 'read' : DELIVERY_STATES[status].rank <= DELIVERY_STATES[row.status].rank)
    return undefined;
  return {
    status,
    dueAt: status === 'sent' ? (update.dueAt ?? null) : null,
    refund: DELIVERY_STATES[status].isRefunded ? row.units : 0,
  };
}

/** Whether the delivery is `unknown` and, of all attempts, only this one may have been accepted. */
function isUnknownSince({ status, attempt, doubtful }: DeliveryRow, reportedAttempt: number | 'every'): boolean {
  return status === 'unknown' && (reportedAttempt === 'every' || (attempt === reportedAttempt && doubtful !== true));
}
