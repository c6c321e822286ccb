import type { OptOutStore } from '../../sms/opt-out-store.js';
import type { PartStore } from '../../sms/part-store.js';
import { MessagingStorage } from '../messaging-storage.js';
import { MemoryAccountStore } from './memory-account-store.js';
import { MemoryGuardStore } from './memory-guard-store.js';
import { MemoryLedgerStore } from './memory-ledger-store.js';
import { MemoryMediaStore } from './memory-media-store.js';
import { MemoryOptOutStore } from './memory-opt-out-store.js';
import { MemoryOutboxStore } from './memory-outbox-store.js';
import { MemoryPartStore } from './memory-part-store.js';
import { MemoryPhoneStore } from './memory-phone-store.js';
import { MemorySessionStore } from './memory-session-store.js';
import { MemoryTables } from './memory-tables.js';

/**
 * Keeps everything in the memory of one process, for tests and trials: the full promises of the ports but one, nothing
 * survives a restart. It has no transactions that a host could share: a send with one is refused.
 */
export class MemoryStorage extends MessagingStorage {
  override readonly accounts = new MemoryAccountStore();
  protected readonly tables = new MemoryTables(this.accounts);
  override readonly outbox = new MemoryOutboxStore(this.tables);
  override readonly ledger = new MemoryLedgerStore(this.tables);
  override readonly phones = new MemoryPhoneStore(this.tables);
  override readonly guards = new MemoryGuardStore(this.tables);
  override readonly parts: PartStore = new MemoryPartStore(this.tables, this.outbox);
  override readonly sessions = new MemorySessionStore(this.tables);
  override readonly media = new MemoryMediaStore(this.tables);
  override readonly optOuts: OptOutStore = new MemoryOptOutStore(this.tables);

  override async start(): Promise<void> {}

  override async stop(): Promise<void> {}
}
