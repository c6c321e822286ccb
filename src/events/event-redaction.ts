import { isContactId } from '../common/contact-id.js';
import { maskNumber } from '../common/phone-numbers/phone-number.js';

/**
 * Removes something from an event's data. Returns the same object if there was nothing to remove. It has no side
 * effects, and applying it twice gives the same result.
 */
export type Redact = (data: object) => object;

/** Removes texts and names of files that somebody sent, and metadata. */
export const withoutTexts: Redact = (data) => changed(data, textsOf(data));

/** Masks phone numbers, and removes texts that may quote them. */
export const withMaskedNumbers: Redact = (data) => {
  const masked = numbersIn(data).map(([name, number]) => [name, maskNumber(number)]);
  return masked.length === 0 ? data : changed(data, { ...Object.fromEntries(masked), ...quoting(data) });
};

/**
 * Removes a number, or the texts of a contact, and all texts that were sent to it or by it. Data without the number or the contact
 * stays as it is.
 */
export function withoutNumber(number: string): Redact {
  return (data) => {
    const own = numbersIn(data).filter(([, each]) => each === number);
    // The id of a contact stays. It leads nowhere after the erasure.
    if (own.length === 0 && !isOf(data, number)) return data;
    const erased = own.map(([name]) => [name, '*'.repeat(number.length)]);
    return changed(data, { ...textsOf(data), ...quoting(data), ...Object.fromEntries(erased) });
  };
}

const NUMBERED = ['number', 'from', 'to'];

/** The fields with a phone number. Sender names and masked numbers do not count. */
function numbersIn(data: object): readonly (readonly [name: string, number: string])[] {
  return Object.entries(data).flatMap(([name, value]) =>
    NUMBERED.includes(name) && typeof value === 'string' && /^\d+$/.test(value) ? [[name, value]] : [],
  );
}

/** Whether data is about a contact. */
function isOf(data: object, contact: string): boolean {
  const { contact: person, number }: { contact?: unknown; number?: unknown } = { ...data };
  return isContactId(contact) && (person === contact || number === contact);
}

/** Removes the error, which is a text of a carrier and may quote a number. */
function quoting(data: object): object {
  return 'error' in data ? { error: null } : {};
}

/** The fields with texts that somebody wrote, with empty values. */
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
