import type { DeliveryResult } from './delivery-result.js';

/** The results of a transport, one for each delivery, and their first fault as the end of a sentence. */
export interface CheckedResults<T> {
  readonly results: readonly (T | Unknown)[];
  readonly fault: string | undefined;
}

type Unknown = Extract<DeliveryResult, { readonly kind: 'unknown' }>;

/** The result of a delivery for which the transport returned none. */
export const NO_ANSWER: Unknown = { kind: 'unknown', error: 'no_answer' };
const BAD_ANSWER: Unknown = { kind: 'unknown', error: 'bad_answer' };

const KINDS: Readonly<Record<ResultKind, true>> = {
  sent: true,
  retry: true,
  postponed: true,
  refused: true,
  unknown: true,
};

export type ResultKind = DeliveryResult['kind'];

export const RESULT_KINDS = Object.keys(KINDS) as readonly ResultKind[];

/** Whether a value is the kind of a result. */
export function isKind(kind: unknown): kind is ResultKind {
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
  given: unknown,
  count: number,
  faultOfRest: (fields: ResultFields) => string | undefined = () => undefined,
): CheckedResults<T> {
  const list: readonly T[] = Array.isArray(given) ? given : [];
  const faults = list.map((result) => faultOf(result, faultOfRest));
  return {
    results: Array.from({ length: count }, (_, index) => {
      const result = list[index];
      if (result === undefined || result === null) return NO_ANSWER;
      return faults[index] === undefined ? result : BAD_ANSWER;
    }),
    fault: faultOfCount(given, count) ?? faults.find((fault) => fault !== undefined),
  };
}

function faultOfCount(given: unknown, count: number): string | undefined {
  if (!Array.isArray(given)) {
    return `answered no list: it must answer one result for each of the ${count}, in their order`;
  }
  if (given.length === count) return undefined;
  const results = given.length === 1 ? 'result' : 'results';
  return `answered ${given.length} ${results} for ${count}: it must answer one for each, in their order`;
}

function faultOf(result: unknown, faultOfRest: (fields: ResultFields) => string | undefined): string | undefined {
  if (typeof result !== 'object' || result === null) return 'answered a result that is no object: { kind, … }';
  const fields: ResultFields = { ...result };
  const { kind, error, reference, final, until, trail } = fields;
  if (!isKind(kind)) {
    // Only a plain word is shown, because anything else may contain a phone number or a text.
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
