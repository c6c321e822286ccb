import { isRecord } from '../../common/options.js';
import {
  type CheckedResults,
  checkResults,
  isKind,
  isTextIfAny,
  NO_ANSWER,
  type ResultFields,
} from '../../outbox/delivery/result-checks.js';
import type { SubmitResult } from '../sms-transport.js';

/** Does the same as {@link checkResults}, and also checks the fields that only results of SMS have. */
export function checkSubmitResults(given: unknown, count: number): CheckedResults<SubmitResult> {
  return checkResults<SubmitResult>(given, count, faultOfSubmit);
}

/** Does the same as {@link checkSubmitResults} for one SMS. */
export function checkSubmitResult(given: unknown): {
  readonly result: SubmitResult;
  readonly fault: string | undefined;
} {
  const { results, fault } = checkSubmitResults([given], 1);
  return { result: results[0] ?? NO_ANSWER, fault };
}

function faultOfSubmit({ route, carrierIds, segments, attempts }: ResultFields): string | undefined {
  if (!isTextIfAny(route)) return 'answered a result whose `route` must be a text';
  if (!isListOf(carrierIds, (id) => typeof id === 'string')) {
    return 'answered a result whose `carrierIds` must be a list of texts';
  }
  if (segments !== undefined && (!Number.isInteger(segments) || Number(segments) < 1)) {
    return 'answered a result whose `segments` must be an integer of at least 1';
  }
  if (isListOf(attempts, isAttempt)) return undefined;
  return 'answered a result whose `attempts` must be a list of { route, outcome, at }';
}

function isListOf(list: unknown, isOne: (entry: unknown) => boolean): boolean {
  return list === undefined || (Array.isArray(list) && list.every(isOne));
}

function isAttempt(attempt: unknown): boolean {
  if (!isRecord(attempt)) return false;
  const { route, outcome, at, code } = attempt;
  return typeof route === 'string' && isKind(outcome) && Number.isFinite(at) && isTextIfAny(code);
}
