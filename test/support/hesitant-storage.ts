import type { Decide, Outcome } from '../../src/outbox/decide.js';
import type { Send } from '../../src/outbox/send.js';
import { insertSend } from '../../src/storage/memory/insert-send.js';
import { MemoryAccountStore } from '../../src/storage/memory/memory-account-store.js';
import { MemoryLedgerStore } from '../../src/storage/memory/memory-ledger-store.js';
import { MemoryOutboxStore } from '../../src/storage/memory/memory-outbox-store.js';
import { MemoryPhoneStore } from '../../src/storage/memory/memory-phone-store.js';
import { MemoryTables } from '../../src/storage/memory/memory-tables.js';
import { MessagingStorage } from '../../src/storage/messaging-storage.js';

/** Reads, decides, hesitates until another commit has read the same (or for 100 ms), and only then writes. */
class HesitantOutboxStore extends MemoryOutboxStore {
  private release: (() => void) | undefined;

  override async commit(sends: readonly Send[], rules: Decide): Promise<readonly Outcome[]> {
    const { outcomes, accepted } = rules(sends, { balances: this.balances(sends), replies: this.liveReplies(sends) });
    await this.hesitate();
    for (const send of accepted) insertSend(this.tables, send);
    return outcomes;
  }

  private hesitate(): Promise<void> {
    if (this.release) {
      this.release();
      this.release = undefined;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.release = resolve;
      setTimeout(resolve, 100);
    });
  }
}

/** A storage without locks, for two instances of a service at once: it shows that races between them can be lost. */
export class HesitantStorage extends MessagingStorage {
  override readonly accounts = new MemoryAccountStore();
  readonly tables = new MemoryTables(this.accounts);
  override readonly outbox = new HesitantOutboxStore(this.tables);
  override readonly ledger = new MemoryLedgerStore(this.tables);
  override readonly phones = new MemoryPhoneStore(this.tables);

  override async start(): Promise<void> {}

  override async stop(): Promise<void> {}
}
