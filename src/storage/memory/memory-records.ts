import type { RecordChanges, SeenRecord, SeenRecords } from '../../outbox/send-policy.js';
import type { MemoryTables } from './memory-tables.js';

/** The records of some keys, with the fate of their messages. */
export function seenRecords(tables: MemoryTables, keys: readonly string[]): SeenRecords {
  const seen = new Map<string, SeenRecord>();
  for (const key of keys) {
    const record = tables.records.get(key);
    if (!record) continue;
    const { state, messages } = record;
    seen.set(key, {
      state: JSON.parse(state),
      messages,
      lost: messages.length > 0 && messages.every(hasFailed(tables)),
    });
  }
  return seen;
}

/** Writes what a guard or a step has changed. */
export function writeRecords(tables: MemoryTables, changes: RecordChanges): void {
  for (const [key, { state, messages, expiresAt }] of changes) {
    tables.records.set(key, { state: JSON.stringify(state), messages: [...messages], expiresAt });
  }
}

function hasFailed({ messages }: MemoryTables): (id: string) => boolean {
  return (id) => messages.get(id)?.deliveries.every(({ status }) => status === 'failed') ?? false;
}
