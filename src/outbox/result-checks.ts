import type { DeliveryResult } from './delivery-result.js';

/** What a carrier answered, one for each delivery, and what is wrong with it, as the end of a sentence. */
export interface CheckedResults<T> {
  readonly answers: readonly (T | Unknown)[];
  readonly fault: string | undefined;
}

type Unknown = Extract<DeliveryResult, { readonly kind: 'unknown' }>;

/** Of a delivery that nobody said anything of. */
export const NO_ANSWER: Unknown = { kind: 'unknown', error: 'no_answer' };
const BAD_ANSWER: Unknown = { kind: 'unknown', error: 'bad_answer' };

const KINDS: Readonly<Record<DeliveryResult['kind'], true>> = {
  ...{ sent: true, retry: true, postponed: true, refused: true, unknown: true },
};

/** Whether somebody's word is a kind of answer. */
export function isKind(kind: unknown): kind is DeliveryResult['kind'] {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind);
}

/** What a result says, field by field, before anybody knows that it does. */
export type ToldFields = Readonly<Record<string, unknown>>;

/**
 * Judges what a transport of somebody else's answered: what is no answer to a delivery leaves its fate unknown.
 * @param faultOfRest what is wrong with fields that only some channels have, as the end of a sentence
 */
export function checkResults<T extends DeliveryResult>(
  answers: unknown,
  count: number,
  faultOfRest: (fields: ToldFields) => string | undefined = () => undefined,
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

function faultOf(answer: unknown, faultOfRest: (fields: ToldFields) => string | undefined): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'answered a result that is no object: { kind, … }';
  const fields: ToldFields = { ...answer };
  const { kind, error, reference, final, until, trail } = fields;
  if (!isKind(kind)) {
    // A word that was meant is shown; what may be a number or a text of somebody's is not.
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

/** Undefined, or a text. */
export function isTextIfAny(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
