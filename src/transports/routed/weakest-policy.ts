import type { RepeatPolicy } from '../../sms/sms-transport.js';

const WEAKEST_FIRST: readonly RepeatPolicy[] = ['at-most-once', 'at-least-once', 'idempotent'];

/**
 * What may be repeated over several routes: what may be on the weakest of them. Several that are all idempotent are
 * `at-most-once` together, for the second knows nothing of what the first was given.
 */
export function weakestOf(transports: readonly { readonly repeat: RepeatPolicy }[]): RepeatPolicy {
  const weakest = WEAKEST_FIRST.find((policy) => transports.some(({ repeat }) => repeat === policy));
  if (weakest === undefined || (weakest === 'idempotent' && transports.length > 1)) return 'at-most-once';
  return weakest;
}
