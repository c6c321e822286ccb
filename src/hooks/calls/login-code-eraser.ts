import type { PurgeRule } from '../../outbox/purger.js';
import type { LoginHookCallStore } from './login-hook-call-store.js';

/** The time between two looks for codes that were handed over, in milliseconds. */
const EVERY_MS = 2000;

/** Removes the encrypted texts of codes soon after their hand-over. */
export function loginCodePurge(store: LoginHookCallStore): PurgeRule {
  let after = '';
  return {
    what: 'handed-over log-in codes',
    everyMs: EVERY_MS,
    async purge(_before, limit) {
      const { next } = await store.eraseHandedOver(after, limit);
      after = next ?? '';
      // Codes that still wait are passed over, so a full step is followed by the next one, whatever it has removed.
      return next === undefined ? 0 : limit;
    },
  };
}
