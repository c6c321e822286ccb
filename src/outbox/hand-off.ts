import type { Delivery } from './outbox-store.js';
import type { Settlement, TrailEntry } from './settlement.js';

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
export type HandOff = HandOffKind & {
  /** What is kept of this attempt. */
  readonly trail?: readonly TrailEntry[];
};

type HandOffKind =
  /** Taken; `final` when its fate is known at once, else a report follows. */
  | {
      readonly kind: 'sent';
      readonly reference?: string;
      readonly final?: 'delivered' | 'undelivered';
      readonly error?: string;
    }
  /** Not taken, may work later. */
  | { readonly kind: 'retry'; readonly error: string }
  /** Not tried: its turn comes at `until`, milliseconds since the epoch. No attempt is counted. */
  | { readonly kind: 'postponed'; readonly error: string; readonly until: number }
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
   * How long after it was accepted a delivery that nobody took may come again, for another attempt or for its turn. One that
   * would come later than that ends instead, with its units back.
   */
  readonly maxQueueMs: number;
  /** How long a report may take before the delivery becomes `unknown`. */
  readonly reportDeadlineMs: number;
}

/** What a channel does unless its transport or the host says otherwise. */
export const DEFAULT_TIMING: DeliveryTiming = {
  leaseMs: 60_000,
  maxAttempts: 5,
  retryBaseMs: 2000,
  retryMaxMs: 300_000,
  maxQueueMs: 72 * 3_600_000,
  reportDeadlineMs: 72 * 3_600_000,
};

/** How hand-offs of one channel are judged. */
export interface HandOffPolicy {
  readonly repeat: RepeatPolicy;
  readonly timing: DeliveryTiming;
}

/** Milliseconds to wait after a failed attempt: doubling, with jitter over the upper half so that retries spread out. */
export function backoff({ retryBaseMs, retryMaxMs }: DeliveryTiming, attempt: number, random: number): number {
  const ceiling = Math.min(retryMaxMs, retryBaseMs * 2 ** (attempt - 1));
  return Math.round((ceiling / 2) * (1 + random));
}

/**
 * What a hand-off means for its delivery. After a doubt only the carrier's own refusal of an id that it knows proves that
 * nothing was taken: whatever else ends the delivery leaves it `unknown`, and nothing is given back. `random` in [0, 1) is
 * the jitter, `leaseUntil` the end of the lease it was claimed with.
 */
export function settlementOf(
  { messageId, position, attempt, acceptedAt, doubtful = false }: Delivery,
  result: HandOff,
  { repeat, timing }: HandOffPolicy,
  at: number,
  random: number,
  leaseUntil: number,
): Settlement {
  const settled = {
    ...{ messageId, position, attempt, at },
    ...('reference' in result && result.reference !== undefined ? { reference: result.reference } : {}),
    ...(result.error === undefined ? {} : { error: result.error }),
    ...(result.trail === undefined ? {} : { trail: result.trail }),
  };
  if (result.kind === 'sent') {
    if (result.final) return { ...settled, status: result.final };
    return { ...settled, status: 'sent', dueAt: at + timing.reportDeadlineMs };
  }
  const lastly = acceptedAt + timing.maxQueueMs;
  // A refusal that never turned into a yes, or a turn that never came, is known not to have been sent; a doubt stays one.
  const notTaken = { ...settled, status: doubtful ? 'unknown' : 'failed' } as const;
  if (result.kind === 'postponed') {
    if (result.until > lastly) return notTaken;
    return { ...settled, status: 'queued', dueAt: result.until, uncounted: { leaseUntil } };
  }
  if (result.kind === 'refused') {
    const isProof = !doubtful || (repeat === 'idempotent' && result.unasked === undefined);
    return { ...settled, status: isProof ? 'failed' : 'unknown' };
  }
  const dueAt = at + backoff(timing, attempt, random);
  const mayRepeat = result.kind === 'retry' || repeat === 'idempotent';
  if (mayRepeat && attempt < timing.maxAttempts && dueAt <= lastly) {
    const doubt = result.kind === 'unknown' ? { doubtful: true } : {};
    return { ...settled, ...doubt, status: 'queued', dueAt };
  }
  return result.kind === 'retry' ? notTaken : { ...settled, status: 'unknown' };
}
