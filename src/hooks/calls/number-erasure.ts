import { RecordKeys } from '../../otp/record-keys.js';
import type { ErasureRule } from '../../outbox/retention/erasure-service.js';
import type { RetentionStore } from '../../outbox/retention/retention-store.js';
import type { LoginHookStore } from '../login-hook-store.js';

/** Erases the limits of a number that its log-in codes have used. The records of calls have the number masked only. */
export function loginCodeErasure(store: RetentionStore, hooks: LoginHookStore): ErasureRule {
  return {
    what: 'loginCodes',
    accounts: async (number, accountIds) => {
      const keys: string[] = [];
      for (const accountId of accountIds) {
        for (const { id } of await hooks.list(accountId)) {
          const { spelled, cooldown, sends } = new RecordKeys({ accountId, service: id, number });
          keys.push(spelled, cooldown, sends);
        }
      }
      const { everywhere } = new RecordKeys({ accountId: '', service: '', number });
      return keys.length === 0 ? 0 : store.eraseRecords([...keys, everywhere]);
    },
  };
}
