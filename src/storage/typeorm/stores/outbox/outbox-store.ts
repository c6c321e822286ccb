import type { HostTransaction } from '../../../../common/host-transaction.js';
import type { Page } from '../../../../common/page.js';
import type { Decide, StoredReply } from '../../../../outbox/decide.js';
import type { DeliveryUpdate } from '../../../../outbox/delivery-state.js';
import {
  type ClaimOrder,
  type CommitOutcome,
  type Delivery,
  type DeliveryTransition,
  type ExpiryOrder,
  type MessageQuery,
  OutboxStore,
  type RecipientPage,
  type RecipientQuery,
  type ReferredDelivery,
  type StoredMessage,
  type StoredRecipient,
  type TrailStep,
  type WaitFor,
} from '../../../../outbox/outbox-store.js';
import type { PolicyStore } from '../../../../outbox/policy-store.js';
import type { IdempotencyKey, Send } from '../../../../outbox/send.js';
import type { Executor } from '../../engine/executor.js';
import { acceptAtOnce, acceptSends, canAcceptAtOnce } from './accept.js';
import { claimDeliveries, nextDueTime } from './claim.js';
import { LaneTurns } from './lane-turns.js';
import { listMessages } from './listings.js';
import { findMessage } from './messages.js';
import type { Gaps } from './policy-records.js';
import { TypeormPolicyStore } from './policy-store.js';
import { listNumbers, listRecipients, readRecipients } from './recipients.js';
import { findReply, purgeReplies } from './replies.js';
import { expireDeliveries, settleDeliveries } from './settle.js';
import { deliveriesByReference, listTrail } from './trail.js';

/** Sends and their deliveries in SQL. */
export class TypeormOutboxStore extends OutboxStore {
  private readonly turns = new LaneTurns();
  /** Whether the last batch was accepted as a whole: the next one is then written without reading balances first. */
  private lastAccepted = true;

  constructor(
    private readonly executor: Executor,
    /** On the same database: waits for records share its limit of connections. */
    private readonly policies: PolicyStore = new TypeormPolicyStore(executor),
  ) {
    super();
  }

  override async commit(
    sends: readonly Send[],
    decide: Decide,
    host?: HostTransaction,
    waitFor: WaitFor = 'all',
  ): Promise<readonly CommitOutcome[]> {
    const { executor, turns } = this;
    const { dialect } = executor;
    if (host) {
      // A repetition, after a row that a plain read did not see, locks gaps too.
      let gaps: Gaps = dialect.locksGaps ? 'leave' : 'lock';
      return executor.write(() => {
        const operation = acceptSends(dialect, sends, decide, waitFor, turns, gaps);
        gaps = 'lock';
        return operation;
      }, host);
    }
    const work = () => acceptSends(dialect, sends, decide, waitFor, turns);
    if (this.lastAccepted && waitFor === 'none' && canAcceptAtOnce(dialect, sends)) {
      const outcomes = await executor.write(() => acceptAtOnce(dialect, sends, decide, turns));
      if (outcomes) return outcomes;
    }
    const outcomes = await executor.write(work);
    this.lastAccepted = outcomes.every(({ kind }) => kind === 'accepted' || kind === 'replayed');
    return outcomes;
  }

  override whenCommitted(host: HostTransaction, task: () => void): void {
    this.executor.whenCommitted(host, task);
  }

  override whenFree(records: readonly string[]): Promise<void> {
    return this.policies.change(records, () => ({ result: undefined, changes: new Map() }));
  }

  override replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined> {
    return this.executor.read(() => findReply(key, now), host);
  }

  override claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    const work = () => claimDeliveries(this.executor.dialect, order);
    // Where abandoned deliveries may be claimed again, a claim that a power cut undoes may be repeated too.
    return order.abandoned ? this.executor.writeLazily(work) : this.executor.write(work);
  }

  override settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    return this.executor.write(() => settleDeliveries(this.executor.dialect, updates));
  }

  override expire(order: ExpiryOrder): Promise<readonly DeliveryTransition[]> {
    return this.executor.write(() => expireDeliveries(this.executor.dialect, order));
  }

  override nextDue(channel: string): Promise<number | undefined> {
    return this.executor.read(() => nextDueTime(this.executor.dialect, channel));
  }

  override find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined> {
    return this.executor.read(() => findMessage(accountId, channel, id));
  }

  override recipients(messageId: string): Promise<readonly StoredRecipient[]> {
    return this.executor.browse(() => listRecipients(messageId));
  }

  override recipientPage(messageId: string, query: RecipientQuery): Promise<RecipientPage> {
    return this.executor.browse(() => readRecipients(this.executor.dialect, messageId, query));
  }

  override trail(messageId: string): Promise<readonly TrailStep[]> {
    return this.executor.browse(() => listTrail(messageId));
  }

  override byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]> {
    return this.executor.read(() => deliveriesByReference(this.executor.dialect, channel, references));
  }

  override numbers(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.executor.browse(() => listNumbers(this.executor.dialect, messageIds));
  }

  override list(query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.executor.browse(() => listMessages(this.executor.dialect, query));
  }

  override purgeReplies(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeReplies(this.executor.dialect, now, limit));
  }
}
