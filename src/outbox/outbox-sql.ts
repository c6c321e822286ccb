import { findReply, forgetReply, keepReply, purgeReplies } from '../accounts/replies.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { Page } from '../common/page.js';
import { EventRecorder } from '../events/event-recorder.js';
import type { Executor } from '../storage/engine/executor.js';
import { acceptAtOnce, acceptSends, canAcceptAtOnce } from './accept/accept.js';
import type { Decide, StoredReply } from './accept/decide.js';
import { findKeySpending, purgeKeySpending } from './accept/key-spending.js';
import { LaneTurns } from './accept/lane-turns.js';
import { hasRefused } from './accept/refusals.js';
import type { IdempotencyKey, Send } from './accept/send.js';
import type { DeliveryUpdate } from './delivery-state.js';
import { listMessages } from './listing/listings.js';
import { findMessage, listTraces } from './listing/messages.js';
import { listFirstRecipients, listNumbers, listRecipients, readRecipients } from './listing/recipients.js';
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
  type TrackedRecipient,
  type TrailStep,
  type WaitFor,
} from './outbox-store.js';
import type { Gaps } from './policy/policy-records.js';
import { TypeormPolicyStore } from './policy/policy-sql.js';
import type { PolicyStore } from './policy/policy-store.js';
import { claimDeliveries, nextDueTime } from './queue/claim.js';
import { ClaimPlan } from './queue/claim-plan.js';
import { QueueMemories } from './queue/queue-memories.js';
import type { Floors, QueueMemory } from './queue/queue-memory.js';
import { expireDeliveries, settleDeliveries } from './settle/settle.js';
import { deliveriesByReference, listTrail } from './settle/trail.js';

/** Sends and their deliveries in SQL. */
export class TypeormOutboxStore extends OutboxStore {
  private readonly turns = new LaneTurns();
  private readonly memories: QueueMemories;
  /** Whether the last batch was accepted as a whole: the next one is then written without reading balances first. */
  private lastAccepted = true;

  constructor(
    private readonly executor: Executor,
    /** On the same database: waits for records share its limit of connections. */
    private readonly policies: PolicyStore = new TypeormPolicyStore(executor),
    private readonly recorder: EventRecorder = new EventRecorder(executor),
  ) {
    super();
    this.memories = new QueueMemories(executor.dialect.keepsDeadEntries);
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
      const outcomes = await executor.write(() => {
        const operation = acceptSends(dialect, sends, decide, waitFor, turns, gaps);
        gaps = 'lock';
        return operation;
      }, host);
      executor.whenCommitted(host, () => this.committed(sends, outcomes));
      return outcomes;
    }
    // Nothing is awaited before the first `write`: on SQLite it belongs to this turn, by which the outbox sizes its batches.
    const mayBeAtOnce = this.lastAccepted && waitFor === 'none' && canAcceptAtOnce(dialect, sends);
    const atOnce = mayBeAtOnce ? await executor.write(() => acceptAtOnce(dialect, sends, decide, turns)) : undefined;
    const outcomes = atOnce ?? (await this.commitLocked(sends, decide, waitFor));
    this.committed(sends, outcomes);
    return outcomes;
  }

  private committed(sends: readonly Send[], outcomes: readonly CommitOutcome[]): void {
    this.memories.accepted(sends, outcomes);
    const marks = sends.some((send, index) => outcomes[index]?.kind === 'accepted' && hasRefused(send));
    this.recorder.added({ accounts: [], marks });
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

  override keep(once: IdempotencyKey, reply: object, now: number): Promise<StoredReply | undefined> {
    return this.executor.write(() => keepReply(this.executor.dialect, once, reply, now));
  }

  override async forget(once: IdempotencyKey): Promise<void> {
    await this.executor.write(() => forgetReply(once));
  }

  override async claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    const { dialect } = this.executor;
    const memory = this.memories.of(order.channel);
    const claimed = await this.searching(memory, order.now, async () => {
      let plan = new ClaimPlan(memory, order);
      const work = () => {
        plan = new ClaimPlan(memory, order);
        return claimDeliveries(dialect, order, plan);
      };
      // Where abandoned deliveries may be claimed again, a claim that a power cut undoes may be repeated too.
      const result = await (order.abandoned ? this.executor.writeLazily(work) : this.executor.write(work));
      return { result, floors: plan.remember() };
    });
    if (claimed.length > 0) memory.put({ status: 'sending', name: '', due: order.leaseUntil });
    return claimed;
  }

  override async settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.executor;
    const moved = await this.recorder.write((telling) => settleDeliveries(dialect, updates, telling));
    this.memories.settled(updates, moved);
    return moved;
  }

  override expire(order: ExpiryOrder): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.executor;
    const memory = this.memories.of(order.channel);
    return this.searching(memory, order.now, async () => {
      const floors: Floors = new Map();
      const result = await this.recorder.write((telling) => {
        floors.clear();
        return expireDeliveries(dialect, order, memory, floors, telling);
      });
      return { result, floors };
    });
  }

  override nextDue(channel: string): Promise<number | undefined> {
    return this.executor.read(() => nextDueTime(this.executor.dialect, channel, this.memories.of(channel)));
  }

  override find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined> {
    return this.executor.read(() => findMessage(accountId, channel, id));
  }

  override recipients(messageId: string): Promise<readonly StoredRecipient[]> {
    return this.executor.browse(() => listRecipients(messageId), undefined);
  }

  override firstRecipients(
    messageIds: readonly string[],
    accountId?: string,
  ): Promise<ReadonlyMap<string, TrackedRecipient>> {
    return this.executor.browse(() => listFirstRecipients(this.executor.dialect, messageIds), accountId);
  }

  override recipientPage(messageId: string, query: RecipientQuery): Promise<RecipientPage> {
    return this.executor.browse(() => readRecipients(this.executor.dialect, messageId, query), query.accountId);
  }

  override trail(messageId: string): Promise<readonly TrailStep[]> {
    return this.executor.browse(() => listTrail(messageId), undefined);
  }

  override byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]> {
    return this.executor.read(() => deliveriesByReference(this.executor.dialect, channel, references));
  }

  override traces(messageIds: readonly string[]): Promise<readonly string[]> {
    return this.executor.read(() => listTraces(this.executor.dialect, messageIds));
  }

  override numbers(messageIds: readonly string[], accountId?: string): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.executor.browse(() => listNumbers(this.executor.dialect, messageIds), accountId);
  }

  override list(query: MessageQuery): Promise<Page<StoredMessage>> {
    return this.executor.browse(() => listMessages(this.executor.dialect, query), query.accountId);
  }

  private async commitLocked(
    sends: readonly Send[],
    decide: Decide,
    waitFor: WaitFor,
  ): Promise<readonly CommitOutcome[]> {
    const { executor, turns } = this;
    const { dialect } = executor;
    const work = () => acceptSends(dialect, sends, decide, waitFor, turns);
    const isInTurns = sends.some(({ recipients }) => recipients.length > dialect.maxRows);
    const outcomes = await (isInTurns ? executor.writeInTurns(work) : executor.write(work));
    this.lastAccepted = outcomes.every(({ kind }) => kind === 'accepted' || kind === 'replayed');
    return outcomes;
  }

  /** Searches queues, and tells their memory what was found. */
  private async searching<T>(
    memory: QueueMemory,
    now: number,
    search: () => Promise<{ readonly result: T; readonly floors: Floors }>,
  ): Promise<T> {
    memory.begin(now);
    let found: Floors | undefined;
    try {
      const { result, floors } = await search();
      found = floors;
      return result;
    } finally {
      memory.end(now, found);
    }
  }

  override purgeReplies(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeReplies(this.executor.dialect, now, limit));
  }

  override keySpending(families: readonly string[], day: number): Promise<ReadonlyMap<string, number>> {
    return this.executor.read(() => findKeySpending(this.executor.dialect, families, day));
  }

  override purgeKeySpending(until: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeKeySpending(this.executor.dialect, until, limit));
  }
}
