import { setTimeout } from 'node:timers/promises';
import type { Decide, Outcome } from '../../src/outbox/decide.js';
import type { Send } from '../../src/outbox/send.js';
import { insertSend } from '../../src/storage/memory/insert-send.js';
import { MemoryAccountStore } from '../../src/storage/memory/memory-account-store.js';
import { MemoryGuardStore } from '../../src/storage/memory/memory-guard-store.js';
import { MemoryLedgerStore } from '../../src/storage/memory/memory-ledger-store.js';
import { MemoryOutboxStore } from '../../src/storage/memory/memory-outbox-store.js';
import { MemoryPhoneStore } from '../../src/storage/memory/memory-phone-store.js';
import { MemoryTables } from '../../src/storage/memory/memory-tables.js';
import { MessagingStorage } from '../../src/storage/messaging-storage.js';

/** Long enough for every request of a test to arrive, and for another instance to read the same. */
const HESITATION_MS = 300;

/** Reads, decides, hesitates, and only then writes. */
class HesitantOutboxStore extends MemoryOutboxStore {
  override async commit(sends: readonly Send[], rules: Decide): Promise<readonly Outcome[]> {
    const seen = { balances: this.balances(sends), replies: this.liveReplies(sends), records: new Map() };
    const { outcomes, accepted } = rules(sends, seen);
    await setTimeout(HESITATION_MS);
    for (const send of accepted) insertSend(this.tables, send);
    return outcomes;
  }
}

/** A storage without locks, for two instances of a service at once: it shows that races between them can be lost. */
export class HesitantStorage extends MessagingStorage {
  override readonly accounts = new MemoryAccountStore();
  readonly tables = new MemoryTables(this.accounts);
  override readonly outbox = new HesitantOutboxStore(this.tables);
  override readonly ledger = new MemoryLedgerStore(this.tables);
  override readonly phones = new MemoryPhoneStore(this.tables);
  override readonly guards = new MemoryGuardStore(this.tables);

  override async start(): Promise<void> {}

  override async stop(): Promise<void> {}
}
