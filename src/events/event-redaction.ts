import { maskNumber } from '../common/phone-numbers/phone-number.js';

/** What is left of an event's data; the same object where nothing was to be removed. Pure, and the same when done twice. */
export type Redact = (data: object) => object;

/** Removes texts and names of files that somebody sent, and metadata. */
export const withoutTexts: Redact = (data) => changed(data, textsOf(data));

/** Masks phone numbers, and removes what may quote them. */
export const withMaskedNumbers: Redact = (data) => {
  const masked = numbersIn(data).map(([name, number]) => [name, maskNumber(number)]);
  return masked.length === 0 ? data : changed(data, { ...Object.fromEntries(masked), ...quoting(data) });
};

/** Removes a number with all that was said to it or by it. Data without the number stays as it is. */
export function withoutNumber(number: string): Redact {
  return (data) => {
    const own = numbersIn(data).filter(([, each]) => each === number);
    if (own.length === 0) return data;
    const erased = own.map(([name]) => [name, '*'.repeat(number.length)]);
    return changed(data, { ...textsOf(data), ...quoting(data), ...Object.fromEntries(erased) });
  };
}

const NUMBERED = ['number', 'from', 'to'];

/** The fields with a phone number. Sender names and masked numbers are none. */
function numbersIn(data: object): readonly (readonly [name: string, number: string])[] {
  return Object.entries(data).flatMap(([name, value]) =>
    NUMBERED.includes(name) && typeof value === 'string' && /^\d+$/.test(value) ? [[name, value]] : [],
  );
}

/** The error is a text of a carrier. */
function quoting(data: object): object {
  return 'error' in data ? { error: null } : {};
}

/** The fields with something that somebody wrote, emptied. */
function textsOf(data: object): Readonly<Record<string, unknown>> {
  const { text, media, refers_to: refersTo }: { text?: unknown; media?: unknown; refers_to?: unknown } = { ...data };
  return {
    ...('metadata' in data ? { metadata: null } : {}),
    ...(typeof text === 'string' ? { text: '' } : {}),
    ...(isObject(media) ? { media: { ...media, file_name: null } } : {}),
    ...(isObject(refersTo) ? { refers_to: { ...refersTo, text: null } } : {}),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function changed(data: object, changes: object): object {
  const after = { ...data, ...changes };
  return JSON.stringify(after) === JSON.stringify(data) ? data : after;
}
