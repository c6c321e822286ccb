/**
 * A wrong value as the sentence about an option shows it: a text in quotes, so that "5" is not taken for 5. Of what may be
 * large, or hold a secret, only what it is.
 */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
