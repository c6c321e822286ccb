import type { Page } from '../../common/page.js';
import {
  type OptOut,
  type OptOutKey,
  type OptOutQuery,
  type OptOutSource,
  OptOutStore,
} from '../../sms/opt-out/opt-out-store.js';
import { memoryPage } from './memory-page.js';
import type { MemoryTables } from './memory-tables.js';

/** The suppression list in memory. */
export class MemoryOptOutStore extends OptOutStore {
  constructor(protected readonly tables: MemoryTables) {
    super();
  }

  override async add(entries: readonly OptOut[]): Promise<readonly OptOut[]> {
    return entries.filter((entry) => {
      if (this.tables.optOuts.has(keyOf(entry))) return false;
      this.tables.optOuts.set(keyOf(entry), entry);
      return true;
    });
  }

  override async remove(keys: readonly OptOutKey[], source?: OptOutSource): Promise<readonly OptOut[]> {
    return keys.flatMap((key) => {
      const entry = this.tables.optOuts.get(keyOf(key));
      if (!entry || (source !== undefined && entry.source !== source)) return [];
      this.tables.optOuts.delete(keyOf(key));
      return [entry];
    });
  }

  override async signatures(accountId: string): Promise<readonly string[]> {
    const entries = [...this.tables.optOuts.values()].filter((entry) => entry.accountId === accountId);
    return [...new Set(entries.map(({ signature }) => signature))];
  }

  override async among(keys: readonly OptOutKey[]): Promise<readonly OptOutKey[]> {
    return keys.filter((key) => this.tables.optOuts.has(keyOf(key)));
  }

  override async list({ accountId, signature, number, ...page }: OptOutQuery): Promise<Page<OptOut>> {
    const entries = [...this.tables.optOuts.values()].filter(
      (entry) =>
        entry.accountId === accountId &&
        (signature === undefined || entry.signature === signature) &&
        (number === undefined || entry.number === number),
    );
    return memoryPage(entries, page);
  }
}

/** One string for a key, different for any two that differ. */
export function keyOf({ accountId, signature, number }: OptOutKey): string {
  return JSON.stringify([accountId, signature, number]);
}
