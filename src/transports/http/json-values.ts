import { repairedJson } from './json-repair.js';

/** Returns the value at a path of an untrusted JSON document. Undefined if the path does not exist. */
export function valueAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  let value = json;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** Returns a text that is not empty, or a number as text. Undefined for any other value. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The values that carriers write if they have no id: `0`, `null`, `false`, a UUID of zeros and the like. */
const NO_ID = /^([0-]+|null|undefined|none|nil|nan|true|false|n\/?a)$/i;

/** The form of an id. A longer text, or one with white space, is a page or a sentence that was read instead of an id. */
const ID = /^\S{1,1000}$/;

/**
 * Returns a carrier's id without blanks and line ends around it. Undefined for a value that is not an id. Examples: `' 7F\r\n'`
 * is `'7F'`, and `0`, `''`, `'null'`, `false` and `'0: Accepted for delivery'` are undefined.
 */
export function idOf(value: unknown): string | undefined {
  const id = textOf(value)?.trim();
  return id === undefined || !ID.test(id) || NO_ID.test(id) ? undefined : id;
}

/** Returns the elements of an array, or none for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns a positive integer of at most 9 digits, from a number or a text. Undefined for any other value. */
export function countOf(value: unknown): number | undefined {
  const text = textOf(value);
  return text !== undefined && /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}

/** Parses JSON as {@link readJson} does. Undefined for an invalid document. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

/** A string of a JSON document, or a number outside of strings. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** Matches every document in which a whole number may lose digits: 16 digits in a row, or an exponent. */
const MAY_LOSE_DIGITS = /\d{16}|\d\.?\d*[eE]/;

/**
 * Parses JSON, even with the faults that `repairedJson` repairs, and without losing digits. A whole number that JavaScript would
 * round or write with an exponent becomes a text of its digits. Example: `{"id":9308878062554710043}` has the id
 * `'9308878062554710043'`, but `JSON.parse` gives 9308878062554710000.
 * @throws SyntaxError for an invalid document
 */
export function readJson(text: string): unknown {
  const { document, json } = parsed(text);
  if (!MAY_LOSE_DIGITS.test(document)) return json;
  return JSON.parse(document.replace(STRING_OR_NUMBER, (token) => exactNumber(token)));
}

function parsed(text: string): { readonly document: string; readonly json: unknown } {
  try {
    return { document: text, json: JSON.parse(text) };
  } catch {
    const document = repairedJson(text);
    return { document, json: JSON.parse(document) };
  }
}

/**
 * Returns a JSON string or number unchanged. For a whole number that JavaScript would not print as such, it returns the digits in
 * quotes.
 */
function exactNumber(token: string): string {
  const digits = wholeDigits(token);
  return digits === undefined || digits === String(Number(token)) ? token : `"${digits}"`;
}

/** The maximum number of digits of a whole number. A longer number cannot be an id. */
const MAX_DIGITS = 100;

/** Returns the digits of a whole number, which may be written with a fraction of zeros or with an exponent. */
function wholeDigits(token: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const length = whole.length + Number(exponent);
  if (length < 1 || length > MAX_DIGITS || !/^0*$/.test((whole + fraction).slice(length))) return undefined;
  const digits = (whole + fraction)
    .slice(0, length)
    .padEnd(length, '0')
    .replace(/^0+(?=.)/, '');
  return digits === '0' ? digits : sign + digits;
}
