import { PolicyStore, type RecordStep } from '../../outbox/policy-store.js';
import type { SeenRecords } from '../../outbox/send-policy.js';
import { seenRecords, writeRecords } from './memory-records.js';
import type { MemoryTables } from './memory-tables.js';

/** Records of guards in memory. */
export class MemoryPolicyStore extends PolicyStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    const { result, changes } = step(seenRecords(this.tables, keys));
    writeRecords(this.tables, changes);
    return result;
  }

  override async purge(now: number, limit: number): Promise<number> {
    const expired = [...this.tables.records].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, limit);
    for (const [key] of expired) this.tables.records.delete(key);
    return expired.length;
  }
}
