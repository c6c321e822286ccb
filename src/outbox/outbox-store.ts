import { findReply, forgetReply, keepReply, purgeReplies } from '../accounts/replies.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { StoredReply } from '../common/idempotency-key.js';
import { EventRecorder } from '../events/event-recorder.js';
import type { Database } from '../storage/engine/database.js';
import { acceptAtOnce, acceptSends, canAcceptAtOnce } from './accept/accept.js';
import type { Decide } from './accept/decide.js';
import { findKeySpending, purgeKeySpending } from './accept/key-spending.js';
import { LaneTurns } from './accept/lane-turns.js';
import { hasRefused } from './accept/refusals.js';
import type { IdempotencyKey, Send } from './accept/send.js';
import type { DeliveryUpdate } from './delivery-state.js';
import { listMessages } from './listing/listings.js';
import { findMessage, listTraces } from './listing/messages.js';
import { listFirstRecipients, listNumbers, listRecipients, readRecipients } from './listing/recipients.js';
import {
  ClaimOrder,
  CommitOutcome,
  Delivery,
  DeliveryTransition,
  ExpiryOrder,
  MessagePage,
  MessageQuery,
  RecipientPage,
  RecipientQuery,
  ReferredDelivery,
  StoredMessage,
  StoredRecipient,
  TrackedRecipient,
  TrailStep,
  WaitFor,
} from './outbox-records.js';
import type { Gaps } from './policy/policy-records.js';
import { PolicyStore } from './policy/policy-store.js';
import { claimDeliveries, nextDueTime } from './queue/claim.js';
import { ClaimPlan } from './queue/claim-plan.js';
import { enterLanes } from './queue/parked.js';
import { QueueMemories } from './queue/queue-memories.js';
import type { Floors, QueueMemory } from './queue/queue-memory.js';
import { RESCHEDULE_SLICE, RescheduleOrder, reschedule } from './schedule/reschedule.js';
import { ExpiredSlice, expireWaiting, WaitingExpiryOrder } from './schedule/validity.js';
import { CancelCount, CanceledSlice, CancelOrder, cancelSlice, countCanceled } from './settle/cancel.js';
import { heldRows } from './settle/held-rows.js';
import { expireDeliveries, settleDeliveries, settleHeldDeliveries } from './settle/settle.js';
import { deliveriesByReference, listTrail } from './settle/trail.js';

/**
 * Persists sends and their deliveries. Every method is one transaction, and its changes are durable when it resolves.
 * Each throws `StorageUnavailableError` if the database does not answer.
 */
export class OutboxStore {
  private readonly turns = new LaneTurns();
  private readonly memories: QueueMemories;
  /**
   * Whether every send of the last batch was accepted. If so, the next batch is written without reading balances first.
   */
  private lastAccepted = true;

  private readonly policies: PolicyStore;
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.policies = database.store(PolicyStore);
    this.recorder = database.store(EventRecorder);
    this.memories = new QueueMemories(database.dialect.searchesFromFloors);
  }

  /**
   * Locks the accounts, reads balances and stored replies, runs `decide` once over `sends`, and writes the accepted ones:
   * debit, charge entry, message, recipients, reply. Outcomes are in the order of the sends.
   *
   * With `host`, everything is written in the host's open transaction, and committed or rolled back with it.
   *
   * With `waitFor: 'none'`, the outcome of a send whose account another transaction has locked is `busy`. So one locked
   * account does not delay the other accounts of the batch. With `none` or `accounts`, the outcome is also `busy` if a
   * record of the send's policy is locked.
   *
   * With `none`, a store may first run `decide` with assumed balances that suffice for every send. It writes the result
   * only if the real balances suffice too. Otherwise it reads the balances and runs `decide` again.
   */
  async commit(
    sends: readonly Send[],
    decide: Decide,
    host?: HostTransaction,
    waitFor: WaitFor = 'all',
  ): Promise<readonly CommitOutcome[]> {
    const { database, turns } = this;
    const { dialect } = database;
    if (host) {
      // If the transaction is repeated because of a row that a plain read did not see, it locks gaps too.
      let gaps: Gaps = dialect.locksGaps ? 'leave' : 'lock';
      const outcomes = await database.write(() => {
        const operation = acceptSends(dialect, sends, decide, waitFor, turns, gaps);
        gaps = 'lock';
        return operation;
      }, host);
      database.whenCommitted(host, () => this.committed(sends, outcomes));
      return outcomes;
    }
    // Nothing is awaited before the first `write`, so that on SQLite it happens in this turn of the event loop. The
    // outbox sizes its batches by that.
    const mayBeAtOnce = this.lastAccepted && waitFor === 'none' && canAcceptAtOnce(dialect, sends);
    const atOnce = mayBeAtOnce ? await database.write(() => acceptAtOnce(dialect, sends, decide, turns)) : undefined;
    const outcomes = atOnce ?? (await this.commitLocked(sends, decide, waitFor));
    this.committed(sends, outcomes);
    return outcomes;
  }

  private committed(sends: readonly Send[], outcomes: readonly CommitOutcome[]): void {
    this.memories.accepted(sends, outcomes);
    const marks = sends.some((send, index) => outcomes[index]?.kind === 'accepted' && hasRefused(send));
    this.recorder.added({ accounts: [], marks });
  }

  /** Runs `task` after the host's open transaction was committed. It never runs after a rollback. */
  whenCommitted(host: HostTransaction, task: () => void): void {
    this.database.whenCommitted(host, task);
  }

  /**
   * Resolves as soon as no other transaction locks these policy records. A `busy` outcome of a commit names them.
   *
   * @throws StorageUnavailableError if they are locked for too long
   */
  whenFree(records: readonly string[]): Promise<void> {
    return this.policies.change(records, () => ({ result: undefined, changes: new Map() }));
  }

  /** The stored reply of a key, unless it has expired. With `host`, it is read in the host's open transaction. */
  replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined> {
    return this.database.read(() => findReply(key, now), host);
  }

  /**
   * Stores the reply of a request that is not a send under a key, unless an unexpired reply is stored there.
   * @returns the reply that was stored earlier; undefined if this reply was stored
   */
  keep(once: IdempotencyKey, reply: object, now: number): Promise<StoredReply | undefined> {
    return this.database.write(() => keepReply(this.database.dialect, once, reply, now));
  }

  /** Removes the reply that `keep` has stored under a key with the same fingerprint. */
  async forget(once: IdempotencyKey): Promise<void> {
    await this.database.write(() => forgetReply(once));
  }

  /**
   * Claims due deliveries: sets them to `sending` with a lease and counts the attempt.
   *
   * Without lanes, a batch is divided between priorities. `code` gets as many places as it needs, and `high`, `normal`
   * and `bulk` share the rest 8 : 4 : 2. Within a priority, the accounts with due deliveries share equally, and within
   * an account the longest overdue deliveries come first. Places that one does not need go to the others. So a batch is
   * full as long as there are due deliveries that no other claim has locked. The store counts over its claims, so the
   * shares are right even if each claim takes only one delivery, and accounts take turns.
   *
   * A store may miss a delivery that another process has stored with a `due_at` in the past, for at most half a minute.
   *
   * @returns the claimed deliveries by priority, and within a priority the longest overdue first
   */
  async claim(order: ClaimOrder): Promise<readonly Delivery[]> {
    const { dialect } = this.database;
    const memory = this.memories.of(order.channel);
    const claimed = await this.searching(memory, order.now, async () => {
      let plan = new ClaimPlan(memory, order);
      const work = () => {
        plan = new ClaimPlan(memory, order);
        return claimDeliveries(dialect, order, plan);
      };
      // If abandoned deliveries may be claimed again, so may deliveries whose claim is lost by a power cut. So the
      // claim need not wait for the disk.
      const result = await (order.abandoned ? this.database.writeLazily(work) : this.database.write(work));
      return { result, floors: plan.remember() };
    });
    if (claimed.length > 0) memory.put({ status: 'sending', name: '', due: order.leaseUntil });
    return claimed;
  }

  /**
   * Moves deliveries that have become due into their lanes; see `PARKED_QUEUE`. Call it before claims with lanes.
   * @returns whether more may be due
   */
  enterLanes(channel: string, now: number): Promise<boolean> {
    return this.database.writeLazily(() => enterLanes(this.database.dialect, channel, now));
  }

  /**
   * Applies `nextState` to each update under lock and refunds failed deliveries. Unknown ids are ignored.
   * @returns the deliveries that changed their state
   */
  async settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.database;
    const moved =
      (await this.settleHeld(updates)) ??
      (await this.recorder.write((publisher) => settleDeliveries(dialect, updates, publisher)));
    this.memories.settled(updates, moved);
    return moved;
  }

  /** Settles deliveries that still are as their claims have left them; undefined if one of them is not, or may not be. */
  private async settleHeld(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[] | undefined> {
    const { dialect } = this.database;
    const held = dialect.hasOneWriter ? heldRows(updates) : undefined;
    if (!held) return undefined;
    let isMoved = false;
    const moved = () => {
      isMoved = true;
    };
    try {
      return await this.recorder.write((publisher) => settleHeldDeliveries(dialect, updates, held, publisher, moved));
    } catch (error) {
      if (isMoved) return undefined;
      throw error;
    }
  }

  /**
   * Cancels at most `CANCEL_SLICE` waiting recipients of a message and refunds their units. A recipient that a worker
   * claims at the same time is either canceled or claimed.
   */
  cancel(order: CancelOrder): Promise<CanceledSlice> {
    const { dialect } = this.database;
    return this.recorder.write((publisher) => cancelSlice(dialect, order, publisher));
  }

  /**
   * Changes when the recipients of a message are handed over, if no worker has claimed one of them: all of this happens,
   * or nothing. If a worker claims one at the same time, either the claim finds none, or the change is refused. An audit
   * entry is added if `by` is given and something changes. Only for channels without lanes.
   *
   * @returns whether the schedule has changed
   * @throws MessagingError `error.already_sending` if a recipient was claimed or none waits, `error.window_empty`
   */
  async reschedule(order: RescheduleOrder): Promise<boolean> {
    const { dialect } = this.database;
    const { channel, accountId } = order.message;
    const work = () => reschedule(dialect, order);
    const isInTurns = order.message.recipients > RESCHEDULE_SLICE;
    const due = await (isInTurns ? this.database.writeInTurns(work) : this.database.write(work));
    if (due === undefined) return false;
    this.memories.of(channel).put({ status: 'queued', name: accountId, due });
    return true;
  }

  /**
   * How many recipients a message has, and how many of them are canceled.
   * @param numbers only the recipients with these numbers; undefined: all
   * @param accountId the account of the message, among whose listings it counts
   */
  countCanceled(messageId: string, numbers: readonly string[] | undefined, accountId: string): Promise<CancelCount> {
    return this.database.browse(() => countCanceled(this.database.dialect, messageId, numbers), accountId);
  }

  /**
   * Moves deliveries whose report deadline or lease has passed to `unknown`.
   * @returns the deliveries that were moved
   */
  expire(order: ExpiryOrder): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.database;
    const memory = this.memories.of(order.channel);
    return this.searching(memory, order.now, async () => {
      const floors: Floors = new Map();
      const result = await this.recorder.write((publisher) => {
        floors.clear();
        return expireDeliveries(dialect, order, memory, floors, publisher);
      });
      return { result, floors };
    });
  }

  /**
   * Fails recipients of all channels that still wait after the end of their validity with the error `expired`, and refunds
   * them. Claims fail those that they meet. This is for the others, for example in a paused queue. A recipient that a
   * carrier may have accepted becomes `unknown`.
   */
  expireWaiting(order: WaitingExpiryOrder): Promise<ExpiredSlice> {
    const { dialect } = this.database;
    return this.recorder.write((publisher) => expireWaiting(dialect, order, publisher));
  }

  /**
   * The earliest time, in milliseconds since the epoch, at which a delivery of the channel becomes due, a lease ends,
   * or a report becomes overdue; undefined if there is none. A store may read only some accounts, and may miss a
   * delivery that another process has stored lately.
   */
  nextDue(channel: string): Promise<number | undefined> {
    return this.database.read(() => nextDueTime(this.database.dialect, channel, this.memories.of(channel)));
  }

  /** A message of an account on a channel; undefined if there is none with this id. */
  find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined> {
    return this.database.read(() => findMessage(accountId, channel, id));
  }

  /** The first `FIRST_RECIPIENTS` recipients of a message, in the order of the send. */
  recipients(messageId: string): Promise<readonly StoredRecipient[]> {
    return this.database.browse(() => listRecipients(messageId), undefined);
  }

  /**
   * The first recipient of each message with its history. A message whose recipients were removed is left out.
   * @param accountId the account of the messages, among whose listings it counts
   */
  firstRecipients(messageIds: readonly string[], accountId?: string): Promise<ReadonlyMap<string, TrackedRecipient>> {
    return this.database.browse(() => listFirstRecipients(this.database.dialect, messageIds), accountId);
  }

  /** A page of a message's recipients with their attempts; empty for an unknown message. */
  recipientPage(messageId: string, query: RecipientQuery): Promise<RecipientPage> {
    return this.database.browse(() => readRecipients(this.database.dialect, messageId, query), query.accountId);
  }

  /** The trail entries of a message's deliveries, oldest first. */
  trail(messageId: string): Promise<readonly TrailStep[]> {
    return this.database.browse(() => listTrail(messageId), undefined);
  }

  /** All deliveries of a channel that were stored with one of these references of the carrier. */
  byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]> {
    return this.database.read(() => deliveriesByReference(this.database.dialect, channel, references));
  }

  /** The traces of these messages. A message without a trace is left out. */
  traces(messageIds: readonly string[]): Promise<readonly string[]> {
    return this.database.read(() => listTraces(this.database.dialect, messageIds));
  }

  /**
   * The first `FIRST_RECIPIENTS` numbers of each message, in the order of its send.
   * @param accountId the account of the messages, among whose listings it counts
   */
  numbers(messageIds: readonly string[], accountId?: string): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.database.browse(() => listNumbers(this.database.dialect, messageIds), accountId);
  }

  /**
   * An account's messages, newest first; `after` is the `next` of the previous page, or the id of its last message.
   *
   * A store examines a limited number of messages and recipients for a page. So with a number, a status, a sender or
   * metadata, a page may have fewer messages than `limit`, even none, and still have a `next`. Its `searchedUntil` then
   * says how far the store has searched. A page of long texts may be short too: it has about `MAX_PAGE_BYTES`, and at least one message.
   *
   * @throws MessagingError `error.invalid_cursor` if `after` is not a message of this account and channel of these
   *   kinds. An empty page instead would mean that there are no further messages
   */
  list(query: MessageQuery): Promise<MessagePage> {
    return this.database.browse(() => listMessages(this.database.dialect, query), query.accountId);
  }

  private async commitLocked(
    sends: readonly Send[],
    decide: Decide,
    waitFor: WaitFor,
  ): Promise<readonly CommitOutcome[]> {
    const { database, turns } = this;
    const { dialect } = database;
    const work = () => acceptSends(dialect, sends, decide, waitFor, turns);
    const isInTurns = sends.some(({ recipients }) => recipients.length > dialect.maxRows);
    const outcomes = await (isInTurns ? database.writeInTurns(work) : database.write(work));
    this.lastAccepted = outcomes.every(({ kind }) => kind === 'accepted' || kind === 'replayed');
    return outcomes;
  }

  /** Runs a search of queues, and passes its results to the memory of the queues. */
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

  /**
   * Removes at most `limit` replies that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  purgeReplies(now: number, limit: number): Promise<number> {
    return this.database.write(() => purgeReplies(this.database.dialect, now, limit));
  }

  /**
   * The units that families of keys with a cap have spent on a day (`dayOf`), by family. A family that has spent
   * nothing is missing.
   */
  keySpending(families: readonly string[], day: number): Promise<ReadonlyMap<string, number>> {
    return this.database.read(() => findKeySpending(this.database.dialect, families, day));
  }

  /**
   * Removes at most `limit` rows of units that families have spent up to a day.
   * @returns how many were removed
   */
  purgeKeySpending(until: number, limit: number): Promise<number> {
    return this.database.write(() => purgeKeySpending(this.database.dialect, until, limit));
  }
}
