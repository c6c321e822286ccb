import { integer, type OptionsOf, optionalGroup } from '../common/options.js';
import type { DeliveryUpdate, TrailEntry } from './delivery-state.js';
import type { Delivery } from './outbox-store.js';

/**
 * What happens when the fate of a hand-off is not known.
 *
 * `idempotent`: repeating is harmless, the carrier knows our id, so it is repeated. `at-least-once`: what a crash
 * interrupted is repeated, a recipient may get it twice. `at-most-once`: never repeated, the delivery becomes `unknown`.
 */
export type RepeatPolicy = (typeof REPEAT_POLICIES)[number];

/** All of them. */
export const REPEAT_POLICIES = ['idempotent', 'at-least-once', 'at-most-once'] as const;

/** What a carrier made of one delivery. */
export type DeliveryResult = DeliveryResultKind & {
  /** What is kept of this attempt. */
  readonly trail?: readonly TrailEntry[];
};

type DeliveryResultKind =
  /** Taken; `final` when its fate is known at once, else a report follows. */
  | {
      readonly kind: 'sent';
      readonly reference?: string;
      readonly final?: 'delivered' | 'undelivered';
      readonly error?: string;
    }
  /** Not taken, may work later. */
  | { readonly kind: 'retry'; readonly error: string }
  /**
   * Not tried: its turn comes at `until`, milliseconds since the epoch. No attempt is counted. `away`: it is not the turn that
   * it waits for, but a carrier that may never come back.
   */
  | { readonly kind: 'postponed'; readonly error: string; readonly until: number; readonly away?: true }
  /** Not taken, never will be. `unasked`: nobody asked the carrier, so it says nothing about the attempts before. */
  | { readonly kind: 'refused'; readonly error: string; readonly unasked?: true }
  /** Nobody knows; with a reference, a later report may tell. */
  | { readonly kind: 'unknown'; readonly error: string; readonly reference?: string };

/** How long and how often; all in milliseconds but `maxAttempts`. */
export interface DeliveryTiming {
  /** How long a worker may hold a delivery. */
  readonly leaseMs: number;
  /** How often a delivery is tried at the most. */
  readonly maxAttempts: number;
  /** Wait before the second attempt; doubles with each further one. */
  readonly retryBaseMs: number;
  /** The longest wait between two attempts. */
  readonly retryMaxMs: number;
  /**
   * How long after it was accepted a delivery may wait for carriers that all rest because they fail. One whose next turn
   * would come later ends, with its units back; but none before the process has been up for an hour, or for as long as this.
   */
  readonly maxAwayMs: number;
  /** How long a report may take before the delivery becomes `unknown`. */
  readonly reportDeadlineMs: number;
}

const LONGEST_MS = 30 * 24 * 3_600_000;
const wait = integer(1, LONGEST_MS).or(undefined);

/** How the option `delivery` of a channel is read. */
export const DELIVERY_OPTIONS = optionalGroup({
  leaseMs: wait,
  maxAttempts: integer(1, 100).or(undefined),
  retryBaseMs: wait,
  retryMaxMs: wait,
  maxAwayMs: wait,
  reportDeadlineMs: wait,
} satisfies OptionsOf<DeliveryTiming>);

/** What a channel does unless its transport or the host says otherwise. */
export const DEFAULT_TIMING: DeliveryTiming = {
  leaseMs: 60_000,
  maxAttempts: 5,
  retryBaseMs: 2000,
  retryMaxMs: 300_000,
  maxAwayMs: 72 * 3_600_000,
  reportDeadlineMs: 72 * 3_600_000,
};

/** How hand-offs of one channel are judged. */
export interface ResultPolicy {
  readonly repeat: RepeatPolicy;
  readonly timing: DeliveryTiming;
}

/** When and how a hand-off is judged; times in milliseconds since the epoch. */
export interface ResultContext {
  readonly at: number;
  /** The jitter, in [0, 1). */
  readonly random: number;
  /** The end of the lease that the delivery was claimed with. */
  readonly leaseUntil: number;
  /** Since when this process delivers. */
  readonly upSince: number;
}

/** So long after a start carriers may be away without costing what was accepted long before it. */
const FIRST_HOUR_MS = 3_600_000;

/** Milliseconds to wait after a failed attempt: doubling, with jitter over the upper half so that retries spread out. */
export function backoff({ retryBaseMs, retryMaxMs }: DeliveryTiming, attempt: number, random: number): number {
  const ceiling = Math.min(retryMaxMs, retryBaseMs * 2 ** (attempt - 1));
  return Math.round((ceiling / 2) * (1 + random));
}

/**
 * What a hand-off means for its delivery. After a doubt only the carrier's own refusal of an id that it knows proves that
 * nothing was taken: whatever else ends the delivery leaves it `unknown`, and nothing is given back.
 */
export function updateOf(
  { messageId, position, attempt, acceptedAt, doubtful = false }: Delivery,
  result: DeliveryResult,
  { repeat, timing }: ResultPolicy,
  { at, random, leaseUntil, upSince }: ResultContext,
): DeliveryUpdate {
  const settled = {
    ...{ messageId, position, attempt, at },
    ...('reference' in result && result.reference !== undefined ? { reference: result.reference } : {}),
    ...errorOf(result),
    ...(result.trail === undefined ? {} : { trail: result.trail }),
  };
  if (result.kind === 'sent') {
    if (result.final) return { ...settled, status: result.final };
    return { ...settled, status: 'sent', dueAt: at + timing.reportDeadlineMs };
  }
  // A refusal that never turned into a yes, or a turn that never came, is known not to have been sent; a doubt stays one.
  const notTaken = { ...settled, status: doubtful ? 'unknown' : 'failed' } as const;
  if (result.kind === 'postponed') {
    const { maxAwayMs } = timing;
    const lastly = Math.max(acceptedAt + maxAwayMs, upSince + Math.min(maxAwayMs, FIRST_HOUR_MS));
    if (result.away && result.until > lastly) return notTaken;
    return { ...settled, status: 'queued', dueAt: result.until, uncounted: { leaseUntil } };
  }
  if (result.kind === 'refused') {
    const isProof = !doubtful || (repeat === 'idempotent' && result.unasked === undefined);
    return { ...settled, status: isProof ? 'failed' : 'unknown' };
  }
  const again = attempt < timing.maxAttempts && (result.kind === 'retry' || repeat === 'idempotent');
  if (again) {
    const doubt = result.kind === 'unknown' ? { doubtful: true } : {};
    return { ...settled, ...doubt, status: 'queued', dueAt: at + backoff(timing, attempt, random) };
  }
  return result.kind === 'retry' ? notTaken : { ...settled, status: 'unknown' };
}

/** Why it was not taken, also of a transport in JavaScript that does not say: from it a row shows that it was tried. */
function errorOf({ kind, error }: DeliveryResult): Pick<DeliveryUpdate, 'error'> {
  if (error !== undefined) return { error };
  return kind === 'sent' ? {} : { error: kind };
}
