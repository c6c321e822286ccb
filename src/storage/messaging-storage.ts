import { AccountStore } from '../accounts/account-store.js';
import { LedgerStore } from '../billing/ledger-store.js';
import { MediaStore } from '../media/media-store.js';
import { SessionStore } from '../msgapp/sessions/session-store.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import { PolicyStore } from '../outbox/policy-store.js';
import { PhoneStore } from '../sandbox/phone-store.js';
import { OptOutStore } from '../sms/opt-out/opt-out-store.js';
import { PartStore } from '../sms/receipts/part-store.js';

/**
 * The storage port. Its stores share transactions (a debit and its message are one commit), so an adapter replaces all of
 * them together. Run `describeStorage` of `nestjs-messaging/testing` on an adapter of your own.
 */
export abstract class MessagingStorage {
  abstract readonly outbox: OutboxStore;
  abstract readonly ledger: LedgerStore;
  abstract readonly accounts: AccountStore;
  abstract readonly phones: PhoneStore;
  abstract readonly policies: PolicyStore;
  abstract readonly parts: PartStore;
  abstract readonly sessions: SessionStore;
  abstract readonly media: MediaStore;
  abstract readonly optOuts: OptOutStore;

  /**
   * Opens connections and brings the schema up to date. The module calls it once, before it uses a store.
   *
   * @throws MessagingOptionsError where the database cannot be used
   */
  abstract start(): Promise<void>;

  /** Waits for the operations in progress and closes what `start` opened. */
  abstract stop(): Promise<void>;
}
