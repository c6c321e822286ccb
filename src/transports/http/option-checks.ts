import { MessagingOptionsError } from '../../common/errors.js';
import { formatValue } from '../../common/options.js';

/** @throws MessagingOptionsError when `options` is no object or has a name that nobody reads */
export function checkNames(at: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    throw new MessagingOptionsError(`Option ${at} must be an object.`);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new MessagingOptionsError(`Option ${at}.${unknown} is not known; there are ${names.join(', ')}.`);
}

/**
 * A text that the host gives. The sentence never quotes it: it may be a secret.
 * @param what it has to be, for the sentence
 * @throws MessagingOptionsError
 */
export function checkedText(at: string, value: unknown, what = 'a text', pattern = /^[\x20-\x7e]{1,500}$/): string {
  if (typeof value === 'string' && pattern.test(value)) return value;
  throw new MessagingOptionsError(`Option ${at} must be ${what}.`);
}

/** @throws MessagingOptionsError */
export function checkedInteger(at: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new MessagingOptionsError(`Option ${at} must be an integer from ${min} to ${max}; got ${formatValue(value)}.`);
}

/** @throws MessagingOptionsError */
export function checkedChoice<const T extends string>(at: string, value: unknown, choices: readonly T[]): T {
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw new MessagingOptionsError(`Option ${at} must be ${choices.map((each) => `"${each}"`).join(' or ')}.`);
}

/**
 * An `https:` URL without credentials, query and fragment; `http:` only to this machine.
 * @throws MessagingOptionsError
 */
export function checkedUrl(at: string, value: unknown): URL {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))) {
    throw new MessagingOptionsError(`Option ${at} must be an https:// URL (http:// only to this machine).`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new MessagingOptionsError(`Option ${at} must be a URL without credentials, query and fragment.`);
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
