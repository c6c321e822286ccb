/**
 * Where one recipient's delivery stands.
 *
 * `queued → sending → sent → delivered → read`, or `undelivered` (the carrier could not deliver), `failed` (refused for
 * good or attempts exhausted: refunded), `unknown` (no answer that can be trusted; a later report may still settle it).
 */
export type DeliveryStatus =
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'undelivered'
  | 'failed'
  | 'unknown';

/**
 * The state as its account sees it: it only moves forward. Between two attempts a delivery is back in the queue, which is the
 * worker's affair; whoever looks sees it `sending`, with the reason (`error`) why it has to come again.
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

/** A step on a delivery's way that is worth keeping: a state it reached, a carrier that was tried. Never a text or a secret. */
export interface TrailEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly [detail: string]: string | number;
}

/** Whether an entry is an attempt to hand a delivery to a carrier; others are states and reports. */
export function isAttempt(entry: TrailEntry): boolean {
  return typeof entry.outcome === 'string';
}

/** What is now known of one recipient's delivery, from a hand-off to the carrier or from a later report. */
export interface DeliveryUpdate {
  readonly messageId: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  /** `queued` means: not sent, try again at `dueAt`. */
  readonly status: Exclude<DeliveryStatus, 'sending'>;
  /**
   * The attempt this comes from. A hand-off's `queued`, `failed` and `unknown` count only while that attempt still holds
   * the lease; reports of the carrier come without it.
   */
  readonly attempt?: number;
  /**
   * With `queued`: nothing was tried, so the claim with this lease does not count as an attempt. The next claim has the same
   * number then; its lease ends later, so that what is told twice is not taken for the second one's.
   */
  readonly uncounted?: { readonly leaseUntil: number };
  /**
   * Milliseconds since the epoch: for `queued` the next attempt, for `sent` when a missing report makes it `unknown`. `null`
   * with `sent`: the carrier may report no more, which also ends the deadline of a delivery that is `sent` already.
   */
  readonly dueAt?: number | null;
  /** The attempt may have been taken all the same: every later claim is told so. */
  readonly doubtful?: boolean;
  /** A short reason, for instance the carrier's code; shown to the account. */
  readonly error?: string;
  /** The carrier's own id of the message. */
  readonly reference?: string;
  /** What is kept of the way there, when the delivery moves. */
  readonly trail?: readonly TrailEntry[];
  /** When it happened, milliseconds since the epoch. */
  readonly at: number;
}

/** A recipient's row as a store reads it under lock. */
export interface DeliveryRow {
  readonly status: DeliveryStatus;
  readonly units: number;
  /** How often it was claimed, without claims that tried nothing. */
  readonly attempt: number;
  /** Next attempt, end of the lease or report deadline, after the status. */
  readonly dueAt: number | null;
}

/** What changes in that row. */
export interface DeliveryChange {
  readonly status: DeliveryStatus;
  /** When somebody must look at it next; null when nobody has to. */
  readonly dueAt: number | null;
  /** Units that go back to the account. */
  readonly refund: number;
  /** The count of attempts, where it changes. */
  readonly attempt?: number;
}

const RANK: Readonly<Record<DeliveryStatus, number>> = {
  queued: 0,
  sending: 1,
  sent: 2,
  unknown: 3,
  delivered: 4,
  undelivered: 5,
  failed: 5,
  read: 5,
};

/**
 * The state machine of a delivery. States only move forward: a change is answered only when the settlement says more than
 * the row does. The one step back, from `sending` to `queued` for another attempt, belongs to the attempt that holds the lease.
 */
export function nextState(row: DeliveryRow, settlement: DeliveryUpdate): DeliveryChange | undefined {
  const { status, attempt } = settlement;
  const holdsLease = row.status === 'sending' && attempt === row.attempt;
  if (status === 'queued') {
    if (!holdsLease) return undefined;
    const change = { status, dueAt: settlement.dueAt ?? settlement.at, refund: 0 };
    if (settlement.uncounted === undefined) return change;
    return settlement.uncounted.leaseUntil === row.dueAt ? { ...change, attempt: row.attempt - 1 } : undefined;
  }
  if (status === 'sent' && row.status === 'sent') {
    return settlement.dueAt === null && row.dueAt !== null ? { status, dueAt: null, refund: 0 } : undefined;
  }
  if (attempt !== undefined && !holdsLease && (status === 'failed' || status === 'unknown')) return undefined;
  if (row.status === 'delivered' ? status !== 'read' : RANK[status] <= RANK[row.status]) return undefined;
  return {
    status,
    dueAt: status === 'sent' ? (settlement.dueAt ?? null) : null,
    refund: status === 'failed' ? row.units : 0,
  };
}
