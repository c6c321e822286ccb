import { integer, type OptionsOf, optionalGroup } from '../../common/options.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../common/time.js';
import type { Writable } from '../../common/writable.js';
import type { DeliveryUpdate, TrailEntry } from '../delivery-state.js';
import type { Delivery } from '../outbox-records.js';
import { startOf } from '../schedule/schedule.js';
import { attemptTimeOf, WINDOW_CLOSED } from '../windows/attempt-time.js';

/**
 * Whether an attempt with an unknown result is repeated.
 *
 * `idempotent`: it is repeated. The carrier recognises our id, so a repeat is harmless. `at-least-once`: it is repeated
 * only after a crash of the worker. A recipient may get the message twice. `at-most-once`: it is never repeated. The
 * delivery becomes `unknown`.
 */
export type RepeatPolicy = (typeof REPEAT_POLICIES)[number];

/** All repeat policies. */
export const REPEAT_POLICIES = ['idempotent', 'at-least-once', 'at-most-once'] as const;

/** The result of one attempt to submit a delivery to a carrier. */
export type DeliveryResult = DeliveryResultKind & {
  /** Entries to store about this attempt. */
  readonly trail?: readonly TrailEntry[];
};

type DeliveryResultKind =
  /** The carrier has accepted it. `final`: the final state is already known. Without `final`, a report follows. */
  | {
      readonly kind: 'sent';
      readonly reference?: string;
      readonly final?: 'delivered' | 'undelivered';
      readonly error?: string;
    }
  /** The carrier has not accepted it, but it may accept a later attempt. */
  | { readonly kind: 'retry'; readonly error: string }
  /**
   * It was not tried, and this does not count as an attempt. It is queued again until `until`, milliseconds since the
   * epoch. `away`: the delivery waits for a failing carrier, which may never recover, instead of a rate limit.
   */
  | { readonly kind: 'postponed'; readonly error: string; readonly until: number; readonly away?: true }
  /**
   * It was refused for good. `unasked`: the carrier was not asked, so the refusal proves nothing about earlier
   * attempts.
   */
  | { readonly kind: 'refused'; readonly error: string; readonly unasked?: true }
  /** The carrier may have accepted it. If there is a reference, a later report can decide it. */
  | { readonly kind: 'unknown'; readonly error: string; readonly reference?: string };

/**
 * Time-outs, retries and deadlines of a channel's deliveries. `maxAttempts` is a number from 1 to 100; the others are milliseconds,
 * up to 30 days.
 */
export interface DeliveryTiming {
  /** How long a worker may take for a delivery before another worker may claim it. Default 60 000. */
  readonly leaseMs: number;
  /** The maximum number of attempts of one delivery. Default 5. */
  readonly maxAttempts: number;
  /** The wait before the second attempt, doubled before each further one. Default 2000. */
  readonly retryBaseMs: number;
  /** The longest wait between two attempts. Default 300 000. */
  readonly retryMaxMs: number;
  /**
   * How long after its acceptance, or its `send_at`, a delivery may wait if all carriers are failing. A delivery that would have to wait
   * longer fails and is refunded. But none fails before the process has run for an hour, or for `maxAwayMs` if that is
   * shorter. Default 259 200 000 (72 h).
   */
  readonly maxAwayMs: number;
  /** How long a report may take before the delivery becomes `unknown`. Default 259 200 000 (72 h). */
  readonly reportDeadlineMs: number;
}

const MAX_MS = 30 * DAY_MS;
const wait = integer(1, MAX_MS).or(undefined);

/** Reads and checks the option `delivery` of a channel. */
export const DELIVERY_OPTIONS = optionalGroup({
  leaseMs: wait,
  maxAttempts: integer(1, 100).or(undefined),
  retryBaseMs: wait,
  retryMaxMs: wait,
  maxAwayMs: wait,
  reportDeadlineMs: wait,
} satisfies OptionsOf<DeliveryTiming>);

/** The timing of a channel unless its transport or the host sets another. */
export const DEFAULT_TIMING: DeliveryTiming = {
  leaseMs: MINUTE_MS,
  maxAttempts: 5,
  retryBaseMs: 2000,
  retryMaxMs: 5 * MINUTE_MS,
  maxAwayMs: 3 * DAY_MS,
  reportDeadlineMs: 3 * DAY_MS,
};

/** Defines how a channel makes updates of deliveries from results. */
export interface ResultPolicy {
  readonly repeat: RepeatPolicy;
  readonly timing: DeliveryTiming;
}

/** The circumstances of a result; times in milliseconds since the epoch. */
export interface ResultContext {
  /** The time of the result. */
  readonly at: number;
  /** The jitter, in [0, 1). */
  readonly random: number;
  /** The end of the lease that the delivery was claimed with. */
  readonly leaseUntil: number;
  /** When this process started to deliver. */
  readonly upSince: number;
}

/** In this time after a start, deliveries that were accepted long before do not fail because of failing carriers. */
const FIRST_HOUR_MS = HOUR_MS;

/**
 * The milliseconds to wait after a failed attempt. They double with each attempt, and the upper half is random, so that
 * retries are spread over time.
 */
export function backoff({ retryBaseMs, retryMaxMs }: DeliveryTiming, attempt: number, random: number): number {
  const ceiling = Math.min(retryMaxMs, retryBaseMs * 2 ** (attempt - 1));
  return Math.round((ceiling / 2) * (1 + random));
}

/**
 * Makes the update of a delivery from a result. If an earlier attempt may have been accepted, only the refusal of a
 * carrier that recognises our id proves that nothing was sent. In all other cases the delivery becomes `unknown`, and
 * nothing is refunded.
 */
export function updateOf(
  delivery: Delivery,
  result: DeliveryResult,
  policy: ResultPolicy,
  context: ResultContext,
): DeliveryUpdate {
  const { messageId, position, attempt } = delivery;
  const { status, dueAt, doubtful, uncounted, leavesLane } = changeOf(delivery, result, policy, context);
  const reference = 'reference' in result ? result.reference : undefined;
  const error = status === 'queued' && waitsForFirst(delivery, result) ? undefined : errorOf(result);
  // Each field that is given is set by itself: with spread operators a batch takes several times as long here.
  const update: Writable<DeliveryUpdate> = { messageId, position, status, attempt, at: context.at };
  if (dueAt !== undefined) update.dueAt = dueAt;
  if (doubtful !== undefined) update.doubtful = doubtful;
  if (uncounted !== undefined) update.uncounted = uncounted;
  if (reference !== undefined) update.reference = reference;
  if (error !== undefined) update.error = error;
  if (result.trail !== undefined) update.trail = result.trail;
  if (leavesLane) update.leavesLane = true;
  return update;
}

/** The new state of a delivery after a result. */
function changeOf(
  delivery: Delivery,
  result: DeliveryResult,
  { repeat, timing }: ResultPolicy,
  { at, random, leaseUntil, upSince }: ResultContext,
): Pick<DeliveryUpdate, 'status' | 'dueAt' | 'doubtful' | 'uncounted' | 'leavesLane'> {
  const { attempt, doubtful = false } = delivery;
  if (result.kind === 'sent') {
    return result.final ? { status: result.final } : { status: 'sent', dueAt: at + timing.reportDeadlineMs };
  }
  // If no earlier attempt may have been accepted, it is certain that nothing was sent.
  const notSent = { status: doubtful ? 'unknown' : 'failed' } as const;
  if (result.kind === 'postponed') {
    const { maxAwayMs } = timing;
    const dueAt = attemptTimeOf(delivery, result.until);
    if (dueAt === undefined) return notSent;
    if (result.away) {
      const start = attemptTimeOf(delivery, startOf(delivery)) ?? dueAt;
      const latest = Math.max(start + maxAwayMs, upSince + Math.min(maxAwayMs, FIRST_HOUR_MS));
      if (result.until > latest) return notSent;
    }
    // Until its window opens it must not hold up the others of its lane.
    return { status: 'queued', dueAt, uncounted: { leaseUntil }, leavesLane: dueAt > result.until };
  }
  if (result.kind === 'refused') {
    const isCertain = !doubtful || (repeat === 'idempotent' && result.unasked === undefined);
    return { status: isCertain ? 'failed' : 'unknown' };
  }
  const mayRepeat = attempt < timing.maxAttempts && (result.kind === 'retry' || repeat === 'idempotent');
  const wanted = at + backoff(timing, attempt, random);
  const dueAt = mayRepeat ? attemptTimeOf(delivery, wanted) : undefined;
  if (dueAt !== undefined) {
    const doubt = result.kind === 'unknown' ? { doubtful: true } : {};
    return { status: 'queued', dueAt, leavesLane: dueAt > wanted, ...doubt };
  }
  return result.kind === 'retry' ? notSent : { status: 'unknown' };
}

/** Whether a delivery still waits for its first attempt, because its window had closed. It then has no error yet. */
function waitsForFirst({ attempt }: Delivery, { kind, error }: DeliveryResult): boolean {
  return kind === 'postponed' && error === WINDOW_CLOSED && attempt === 1;
}

/** The reason of a result. A retry always has one, because `shownStatus` recognises by it that there was an attempt. */
function errorOf({ kind, error }: DeliveryResult): string | undefined {
  return error ?? (kind === 'sent' ? undefined : kind);
}
