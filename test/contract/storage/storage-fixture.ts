import assert from 'node:assert/strict';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { SECOND_MS } from '../../../src/common/time.js';
import { EventLog } from '../../../src/events/event-log.js';
import type { SessionStatus } from '../../../src/events/session-status.js';
import { OverviewStore } from '../../../src/management/usage/overview-store.js';
import { UsageStore } from '../../../src/management/usage/usage-store.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { type SessionLease, type SessionMove } from '../../../src/msgapp/sessions/session-records.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import type { Send } from '../../../src/outbox/accept/send.js';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import type { ClaimOrder, CommitOutcome, Delivery, DeliveryTransition } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PolicyStore } from '../../../src/outbox/policy/policy-store.js';
import { RetentionStore } from '../../../src/outbox/retention/retention-store.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { OptOutStore } from '../../../src/sms/opt-out/opt-out-store.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import type { MessagingStorage } from '../../../src/storage/messaging-storage.js';
import { EndpointStore } from '../../../src/webhooks/endpoints/endpoint-store.js';
import { ACCOUNT, START } from './fixtures.js';
import type { OpenStorage, StorageHarness } from './storage-harness.js';

/** The length of a lease of `StorageFixture.claim`, in milliseconds. */
export const LEASE = 30 * SECOND_MS;

/** The storage of the running test, and helpers for the tests. */
export class StorageFixture {
  private opened: StorageHarness | undefined;

  async open(open: OpenStorage): Promise<void> {
    this.opened = await open();
  }

  async close(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    await opened?.close();
  }

  get harness(): StorageHarness {
    assert.ok(this.opened, 'the storage is open');
    return this.opened;
  }

  get storage(): MessagingStorage {
    return this.harness.storage;
  }

  get outbox(): OutboxStore {
    return this.storage.store(OutboxStore);
  }

  get ledger(): LedgerStore {
    return this.storage.store(LedgerStore);
  }

  get accounts(): AccountStore {
    return this.storage.store(AccountStore);
  }

  get phones(): PhoneStore {
    return this.storage.store(PhoneStore);
  }

  get policies(): PolicyStore {
    return this.storage.store(PolicyStore);
  }

  get parts(): PartStore {
    return this.storage.store(PartStore);
  }

  get sessions(): SessionStore {
    return this.storage.store(SessionStore);
  }

  get retention(): RetentionStore {
    return this.storage.store(RetentionStore);
  }

  get media(): MediaStore {
    return this.storage.store(MediaStore);
  }

  get optOuts(): OptOutStore {
    return this.storage.store(OptOutStore);
  }

  get events(): EventLog {
    return this.storage.store(EventLog);
  }

  get endpoints(): EndpointStore {
    return this.storage.store(EndpointStore);
  }

  get usage(): UsageStore {
    return this.storage.store(UsageStore);
  }

  get overview(): OverviewStore {
    return this.storage.store(OverviewStore);
  }

  get audit(): AuditLog {
    return this.storage.store(AuditLog);
  }

  /** Creates an account and tops it up. */
  async fund(units: number, id = ACCOUNT): Promise<void> {
    assert.equal(await this.accounts.createAccount({ id, name: `Account ${id}`, createdAt: START }), true);
    if (units > 0) await this.topUp(units, id);
  }

  /** Tops up an account at `START`. */
  async topUp(units: number, accountId = ACCOUNT, id = `funds-${accountId}`): Promise<void> {
    assert.equal(await this.ledger.post({ id, accountId, kind: 'topup', units, at: START }), 'posted');
  }

  /** Commits sends with the service's own `decide`. */
  commit(...sends: readonly Send[]): Promise<readonly CommitOutcome[]> {
    return this.outbox.commit(sends, decide);
  }

  /** Commits sends and asserts that all are accepted. */
  async accept(...sends: readonly Send[]): Promise<void> {
    assert.deepEqual(
      kinds(await this.commit(...sends)),
      sends.map(() => 'accepted'),
    );
  }

  /** Claims deliveries of `sms` at `START`, changed by `over`. */
  claim(over: Partial<ClaimOrder> = {}): Promise<readonly Delivery[]> {
    const now = over.now ?? START;
    return this.outbox.claim({ channel: 'sms', limit: 100, now, leaseUntil: now + LEASE, abandoned: false, ...over });
  }

  /** Settles one recipient, by default the first. */
  settle(
    message: string,
    status: DeliveryUpdate['status'],
    over: Partial<DeliveryUpdate> = {},
  ): Promise<readonly DeliveryTransition[]> {
    return this.outbox.settle([{ messageId: message, position: 0, status, at: START + SECOND_MS, ...over }]);
  }

  /** Moves a session to a state, half a minute after `START`. */
  move(lease: SessionLease, to: SessionStatus, over: Partial<SessionMove> = {}): Promise<boolean> {
    return this.sessions.move(lease, { to, reason: `now ${to}`, at: START + 30 * SECOND_MS, ...over });
  }

  /** Asserts the statuses of a message's recipients. */
  async stand(message: string, statuses: readonly string[]): Promise<void> {
    assert.deepEqual(
      (await this.outbox.recipients(message)).map(({ status }) => status),
      statuses,
    );
  }

  /** Asserts a balance, and that the ledger is consistent. */
  async holds(units: number, accountId = ACCOUNT): Promise<void> {
    assert.equal(await this.ledger.balance(accountId), units);
    await this.sound();
  }

  /** Asserts that the ledger is consistent. */
  async sound(): Promise<void> {
    assert.deepEqual(await this.ledger.check(), []);
  }
}

/** The outcome of each send: the reason of a refusal, otherwise the kind. */
export function kinds(outcomes: readonly CommitOutcome[]): string[] {
  return outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.why : outcome.kind));
}

/** The keys of deliveries or transitions, as `message/position`. */
export function places(rows: readonly { messageId: string; position: number }[]): string[] {
  return rows.map(({ messageId, position }) => `${messageId}/${position}`);
}
