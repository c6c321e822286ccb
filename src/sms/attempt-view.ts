import type { DeliveryStatus } from '../events/delivery-status.js';
import { isKind, type ResultKind } from '../outbox/delivery/result-checks.js';
import type { AttemptEntry } from '../outbox/delivery-state.js';
import type { RecipientDetails } from '../outbox/outbox-records.js';
import { ATTEMPT_ERRORS, type AttemptError, type SmsAttempt } from './sms.api.js';

type AttemptStatus = SmsAttempt['status'];

/** Returns the newest attempts of a recipient, oldest first. */
export function attemptsOf({ attempts, status }: RecipientDetails): readonly SmsAttempt[] {
  const newest = attempts.length - 1;
  return attempts.map((entry, index) => attemptOf(entry, index === newest ? STATUS_OF_REPORT[status] : undefined));
}

const STATUS_OF_OUTCOME: Readonly<Record<ResultKind, AttemptStatus>> = {
  sent: 'sent',
  retry: 'retry',
  postponed: 'postponed',
  refused: 'failed',
  unknown: 'unknown',
};

/** The status of the newest attempt after a report, by the status of the recipient. */
const STATUS_OF_REPORT: Readonly<Partial<Record<DeliveryStatus, AttemptStatus>>> = {
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'undelivered',
  failed: 'failed',
  unknown: 'unknown',
};

/** The error of a status if the transport's code is not one of `ATTEMPT_ERRORS`. */
const DEFAULT_ERROR: Readonly<Record<AttemptStatus, AttemptError | null>> = {
  sent: null,
  delivered: null,
  undelivered: 'undelivered',
  failed: 'refused',
  retry: 'temporary',
  postponed: 'temporary',
  unknown: 'no_answer',
};

/** Codes of our own transports whose name in `ATTEMPT_ERRORS` differs. */
const ERROR_OF_CODE: Readonly<Record<string, AttemptError>> = {
  'smpp: no answer': 'no_answer',
  'smpp: no link': 'not_connected',
  'smpp: stopping': 'stopping',
  'smpp: no time': 'no_time',
  'smpp: unsendable': 'unsendable',
  malformed_answer: 'bad_answer',
  no_request: 'not_connected',
};

function attemptOf({ at, route, outcome, code, segments }: AttemptEntry, reported?: AttemptStatus): SmsAttempt {
  const submitted = isKind(outcome) ? STATUS_OF_OUTCOME[outcome] : 'unknown';
  // A report applies only to an attempt that the carrier accepted or may have accepted.
  const status = submitted === 'sent' || submitted === 'unknown' ? (reported ?? submitted) : submitted;
  return {
    at: new Date(at).toISOString(),
    route: String(route ?? ''),
    status,
    error: DEFAULT_ERROR[status] === null ? null : (errorOfCode(code) ?? DEFAULT_ERROR[status]),
    segments: typeof segments === 'number' ? segments : null,
  };
}

function errorOfCode(code: string | number | undefined): AttemptError | undefined {
  const text = String(code ?? '');
  const translated = Object.hasOwn(ERROR_OF_CODE, text) ? ERROR_OF_CODE[text] : undefined;
  return ATTEMPT_ERRORS.find((each) => each === text) ?? translated;
}
