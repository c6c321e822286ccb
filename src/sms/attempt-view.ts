import type { TrailEntry } from '../outbox/delivery-state.js';
import type { RecipientDetails } from '../outbox/outbox-store.js';

/** One attempt to hand an SMS to a carrier, as its account sees it. */
export interface SmsAttempt {
  /** When it ended, ISO 8601, UTC. */
  readonly at: string;
  /** The name that the host gave the carrier. */
  readonly route: string;
  readonly status: AttemptStatus;
  /** One of `ATTEMPT_ERRORS`; null: nothing went wrong. */
  readonly error: AttemptError | null;
  /** How many segments the carrier counted; null where it does not tell. */
  readonly segments: number | null;
}

/** What became of an attempt; `retry` and `postponed`: the carrier did not take it, and it was to come again. */
export const ATTEMPT_STATUSES = [
  ...(['sent', 'delivered', 'undelivered', 'failed', 'retry', 'postponed', 'unknown'] as const),
] as const;

type AttemptStatus = (typeof ATTEMPT_STATUSES)[number];

/** All that is said of what went wrong. What a carrier says itself is not shown: it may hold anything. */
export const ATTEMPT_ERRORS = [
  ...(['refused', 'undelivered', 'temporary', 'no_answer', 'bad_answer', 'transport_error'] as const),
  ...(['not_connected', 'not_started', 'stopping', 'no_time', 'rate_limited', 'expired', 'unsendable'] as const),
] as const;

type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** The newest attempts of a recipient, oldest first. */
export function attemptsOf({ attempts, status }: RecipientDetails): readonly SmsAttempt[] {
  const newest = attempts.length - 1;
  return attempts.map((entry, index) => attemptOf(entry, index === newest ? REPORTED[status] : undefined));
}

const OUTCOMES: Readonly<Record<string, AttemptStatus>> = {
  ...{ sent: 'sent', retry: 'retry', postponed: 'postponed', refused: 'failed', unknown: 'unknown' },
};

/** What a later report may have made of the newest attempt. */
const REPORTED: Readonly<Record<string, AttemptStatus>> = {
  ...{ delivered: 'delivered', read: 'delivered', undelivered: 'undelivered', failed: 'failed', unknown: 'unknown' },
};

const WRONG: Readonly<Record<AttemptStatus, AttemptError | null>> = {
  ...{ sent: null, delivered: null, undelivered: 'undelivered', failed: 'refused' },
  ...{ retry: 'temporary', postponed: 'temporary', unknown: 'no_answer' },
};

/** Words of our own transports for what is in the list under another name. */
const SAME_AS: Readonly<Record<string, AttemptError>> = {
  ...{ 'smpp: no answer': 'no_answer', 'smpp: no link': 'not_connected', 'smpp: stopping': 'stopping' },
  ...{ 'smpp: no time': 'no_time', 'smpp: expired': 'expired', 'smpp: unsendable': 'unsendable' },
  ...{ malformed_answer: 'bad_answer', no_request: 'not_connected' },
};

function attemptOf({ at, route, outcome, code, segments }: TrailEntry, reported?: AttemptStatus): SmsAttempt {
  const told = OUTCOMES[String(outcome)] ?? 'unknown';
  // A report is about what the carrier took, or may have taken.
  const status = told === 'sent' || told === 'unknown' ? (reported ?? told) : told;
  return {
    at: new Date(at).toISOString(),
    route: String(route ?? ''),
    status,
    error: WRONG[status] === null ? null : (wordOf(code) ?? WRONG[status]),
    segments: typeof segments === 'number' ? segments : null,
  };
}

function wordOf(code: string | number | undefined): AttemptError | undefined {
  const word = String(code ?? '');
  return ATTEMPT_ERRORS.find((each) => each === word) ?? (Object.hasOwn(SAME_AS, word) ? SAME_AS[word] : undefined);
}
