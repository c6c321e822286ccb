import type { DeliveryResult } from './delivery-result.js';

/** Results of a transport, one for each delivery, and the first fault in them, as the end of a sentence. */
export interface CheckedResults<T> {
  readonly answers: readonly (T | Unknown)[];
  readonly fault: string | undefined;
}

type Unknown = Extract<DeliveryResult, { readonly kind: 'unknown' }>;

/** The result of a delivery for which the transport returned none. */
export const NO_ANSWER: Unknown = { kind: 'unknown', error: 'no_answer' };
const BAD_ANSWER: Unknown = { kind: 'unknown', error: 'bad_answer' };

const KINDS: Readonly<Record<DeliveryResult['kind'], true>> = {
  sent: true,
  retry: true,
  postponed: true,
  refused: true,
  unknown: true,
};

/** Whether a value is the kind of a result. */
export function isKind(kind: unknown): kind is DeliveryResult['kind'] {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind);
}

/** The unchecked fields of a result. */
export type ResultFields = Readonly<Record<string, unknown>>;

/**
 * Checks the results of a transport, which may be JavaScript of a third party. A delivery with a missing or malformed result
 * gets `unknown`, because the transport may have sent it.
 *
 * @param faultOfRest checks the fields that only some channels have; returns the end of a sentence
 */
export function checkResults<T extends DeliveryResult>(
  answers: unknown,
  count: number,
  faultOfRest: (fields: ResultFields) => string | undefined = () => undefined,
): CheckedResults<T> {
  const given: readonly T[] = Array.isArray(answers) ? answers : [];
  const faults = given.map((answer) => faultOf(answer, faultOfRest));
  return {
    answers: Array.from({ length: count }, (_, index) => {
      const answer = given[index];
      if (answer === undefined || answer === null) return NO_ANSWER;
      return faults[index] === undefined ? answer : BAD_ANSWER;
    }),
    fault: faultOfCount(answers, count) ?? faults.find((fault) => fault !== undefined),
  };
}

function faultOfCount(answers: unknown, count: number): string | undefined {
  if (!Array.isArray(answers)) {
    return `answered no list: it must answer one result for each of the ${count}, in their order`;
  }
  if (answers.length === count) return undefined;
  const results = answers.length === 1 ? 'result' : 'results';
  return `answered ${answers.length} ${results} for ${count}: it must answer one for each, in their order`;
}

function faultOf(answer: unknown, faultOfRest: (fields: ResultFields) => string | undefined): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'answered a result that is no object: { kind, … }';
  const fields: ResultFields = { ...answer };
  const { kind, error, reference, final, until, trail } = fields;
  if (!isKind(kind)) {
    // Only a plain word is shown: anything else may contain a phone number or a message text.
    const given = typeof kind === 'string' && /^[a-z_-]{1,20}$/i.test(kind) ? `kind "${kind}"` : 'another kind';
    return `answered a result of ${given}: it must be "sent", "retry", "postponed", "refused" or "unknown"`;
  }
  if (!isTextIfAny(error)) return 'answered a result whose `error` must be a text';
  if (!isTextIfAny(reference)) return 'answered a result whose `reference` must be a text';
  if (kind === 'sent' && final !== undefined && final !== 'delivered' && final !== 'undelivered') {
    return 'answered a result whose `final` must be "delivered" or "undelivered", or left out';
  }
  if (kind === 'postponed' && !Number.isFinite(until)) {
    return 'answered a result whose `until` must be a time in milliseconds';
  }
  if (trail !== undefined && !Array.isArray(trail)) return 'answered a result whose `trail` must be a list';
  return faultOfRest(fields);
}

/** Whether a value is undefined or a string. */
export function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
