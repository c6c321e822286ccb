import { GSM7_COST, GSM7_ESCAPE } from './gsm7.js';

const SURROGATE_MASK = 0xfc00;
const HIGH_SURROGATE = 0xd800;
const LOW_SURROGATE = 0xdc00;

/** Whether the UTF-16 units at `at` and behind it are one character. */
export function isSurrogatePair(text: string, at: number): boolean {
  return (
    (text.charCodeAt(at) & SURROGATE_MASK) === HIGH_SURROGATE &&
    (text.charCodeAt(at + 1) & SURROGATE_MASK) === LOW_SURROGATE
  );
}

/** Characters as Unicode counts them; a lone surrogate is one. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if (isSurrogatePair(text, at)) count--;
  }
  return count;
}

/** The distinct characters that keep a text from being GSM-7, in order of their first appearance. */
export function notGsm7(text: string): string[] {
  const found = new Set<string>();
  for (const character of text) {
    if (!GSM7_COST[character.charCodeAt(0)]) found.add(character);
  }
  return [...found];
}

/**
 * The first character of a text that no SMS can carry, in the form `U+001B`; undefined when there is none. That is NUL,
 * ESC (a phone reads it as the start of an extension character) and half of a surrogate pair. None of them is in GSM-7,
 * so a text that `measure` calls GSM-7 need not be asked about.
 */
export function unsendable(text: string): string | undefined {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0 || unit === GSM7_ESCAPE) return codePointName(unit);
    if (unit < HIGH_SURROGATE || unit > 0xdfff) continue;
    if (!isSurrogatePair(text, at)) return codePointName(unit);
    at++;
  }
  return undefined;
}

/** `U+` and at least four hexadecimal digits. */
export function codePointName(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
