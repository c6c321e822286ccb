import { MemoryStorage } from '../../src/storage/memory/memory-storage.js';
import type { MemoryTables } from '../../src/storage/memory/memory-tables.js';
import type { StorageHarness, StorageTamper } from '../../src/testing/storage-contract/storage-harness.js';

/** A memory storage whose rows a test can reach. */
export class OpenMemoryStorage extends MemoryStorage {
  get rows(): MemoryTables {
    return this.tables;
  }
}

/** How the contract suite opens a storage that lives in one object: the second instance is the same one. */
export function harnessOf(storage: OpenMemoryStorage): StorageHarness {
  return { storage, close: () => storage.stop(), another: async () => storage, tamper: tamperWith(storage.rows) };
}

function tamperWith(tables: MemoryTables): StorageTamper {
  return {
    balance: async (accountId, units) => {
      tables.balances.set(accountId, units);
    },
    addEntry: async (entry) => {
      tables.entries.set(entry.id, entry);
    },
    dropEntry: async (id) => {
      tables.entries.delete(id);
    },
    dropMessage: async (id) => {
      tables.messages.delete(id);
    },
    messageUnits: async (id, units) => {
      Object.assign(tables.messages.get(id) ?? {}, units);
    },
    recipientUnits: async (messageId, position, units) => {
      Object.assign(tables.messages.get(messageId)?.deliveries[position] ?? {}, units);
    },
  };
}
