import { phoneOf } from '../common/phone-numbers/phone-spellings.js';
import type { PolicyStore } from '../outbox/policy/policy-store.js';
import type { PolicyRecord, SeenRecords } from '../outbox/policy/send-policy.js';
import type { ErasureRule } from '../outbox/retention/erasure-service.js';
import type { RetentionStore } from '../outbox/retention/retention-store.js';
import { withoutNumber } from './fraud-rules.js';
import { RecordKeys } from './record-keys.js';

/**
 * Erases the records of one-time codes. The number's own records are removed, so a pending code can no longer be verified, and
 * the number's limits count from zero. The records of its prefix stay, without the number.
 */
export function codeErasure(store: RetentionStore, policies: PolicyStore): ErasureRule {
  return {
    what: 'codes',
    records: ({ accountId, payload: { kind, service, number } }) => {
      if (kind !== 'otp' || typeof service !== 'string' || typeof number !== 'string') return [];
      const { challenge, spelled, cooldown } = new RecordKeys({ accountId, service, number });
      return [challenge, spelled, cooldown];
    },
    accounts: async (number, accountIds) => {
      const keys = accountIds.map((accountId) => new RecordKeys({ accountId, service: '', number }));
      const phone = phoneOf(number);
      const prefix = phone.slice(0, -4);
      const prefixes = keys.map((each) => each.prefix(prefix));
      if (prefixes.length > 0) await policies.change(prefixes, (seen) => without(phone, seen), 'to-change');
      const own = keys.flatMap(({ tries, sends }) => [tries, sends]);
      const everywhere = new RecordKeys({ accountId: '', service: '', number }).everywhere;
      return store.eraseRecords([...own, everywhere]);
    },
  };
}

/** Removes the number from the records of its prefix. */
function without(number: string, seen: SeenRecords) {
  const changes = new Map<string, PolicyRecord>();
  for (const [key, record] of seen) {
    const left = withoutNumber(record.state, number);
    if (left) changes.set(key, { ...left, messages: [] });
  }
  return { result: undefined, changes };
}
