import { nameOf } from '../common/name-of.js';

/** What is wrong, in words that may be logged: the reason of our own errors, of others' the name only. */
export function reasonOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'reason' in error) return String(error.reason);
  return `${nameOf(error)}.`;
}
