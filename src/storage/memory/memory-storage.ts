import type { AccountStore } from '../../accounts/account-store.js';
import type { LedgerStore } from '../../billing/ledger-store.js';
import type { MediaStore } from '../../media/media-store.js';
import type { SessionStore } from '../../msgapp/sessions/session-store.js';
import type { OutboxStore } from '../../outbox/outbox-store.js';
import type { PolicyStore } from '../../outbox/policy-store.js';
import type { PhoneStore } from '../../sandbox/phone-store.js';
import type { OptOutStore } from '../../sms/opt-out/opt-out-store.js';
import type { PartStore } from '../../sms/receipts/part-store.js';
import { MessagingStorage } from '../messaging-storage.js';
import { MemoryAccountStore } from './memory-account-store.js';
import { MemoryPolicyStore } from './memory-guard-store.js';
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
 * survives a restart. It has no transactions that a host could share: what is to be part of one is refused.
 */
export class MemoryStorage extends MessagingStorage {
  private readonly people = new MemoryAccountStore();
  protected readonly tables = new MemoryTables(this.people);
  override readonly accounts: AccountStore = this.people;
  override readonly outbox: OutboxStore = new MemoryOutboxStore(this.tables);
  override readonly ledger: LedgerStore = new MemoryLedgerStore(this.tables);
  override readonly phones: PhoneStore = new MemoryPhoneStore(this.tables);
  override readonly policies: PolicyStore = new MemoryPolicyStore(this.tables);
  override readonly parts: PartStore = new MemoryPartStore(this.tables, this.outbox);
  override readonly sessions: SessionStore = new MemorySessionStore(this.tables);
  override readonly media: MediaStore = new MemoryMediaStore(this.tables);
  override readonly optOuts: OptOutStore = new MemoryOptOutStore(this.tables);

  override async start(): Promise<void> {}

  override async stop(): Promise<void> {}
}
