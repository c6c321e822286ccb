import { findReply, forgetReply, keepReply, purgeReplies } from '../accounts/replies.js';
import type { HostTransaction } from '../common/host-transaction.js';
import type { StoredReply } from '../common/idempotency-key.js';
import type { Page } from '../common/page.js';
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
import { QueueMemories } from './queue/queue-memories.js';
import type { Floors, QueueMemory } from './queue/queue-memory.js';
import { expireDeliveries, settleDeliveries } from './settle/settle.js';
import { deliveriesByReference, listTrail } from './settle/trail.js';

/**
 * Persists sends and their deliveries. Every method is one transaction, and is durable when it resolves. Each throws
 * `StorageUnavailableError` when the database does not answer.
 */
export class OutboxStore {
  private readonly turns = new LaneTurns();
  private readonly memories: QueueMemories;
  /** Whether the last batch was accepted as a whole: the next one is then written without reading balances first. */
  private lastAccepted = true;

  private readonly policies: PolicyStore;
  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.policies = database.store(PolicyStore);
    this.recorder = database.store(EventRecorder);
    this.memories = new QueueMemories(database.dialect.keepsDeadEntries);
  }

  /**
   * Locks the accounts, reads balances and stored replies, runs `decide` once over `sends`, and writes the accepted ones:
   * debit, charge entry, message, recipients, reply. Outcomes are in the order of the sends.
   *
   * With `host`, everything is written in the host's open transaction, and committed or rolled back with it.
   *
   * With `waitFor` `none`, a send whose account another transaction holds comes out as `busy`, so that one held account does
   * not delay the others of its batch. With `none` or `accounts`, so does a send whose policy names a record that is held.
   *
   * With `none`, a store may first run `decide` with balances that suffice for every send, and write the result on condition
   * that the real ones do; otherwise it runs `decide` again on the balances that it reads.
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
      // A repetition, after a row that a plain read did not see, locks gaps too.
      let gaps: Gaps = dialect.locksGaps ? 'leave' : 'lock';
      const outcomes = await database.write(() => {
        const operation = acceptSends(dialect, sends, decide, waitFor, turns, gaps);
        gaps = 'lock';
        return operation;
      }, host);
      database.whenCommitted(host, () => this.committed(sends, outcomes));
      return outcomes;
    }
    // Nothing is awaited before the first `write`: on SQLite it belongs to this turn, by which the outbox sizes its batches.
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

  /** Runs `task` after the host's open transaction has been committed, and never if it is rolled back. */
  whenCommitted(host: HostTransaction, task: () => void): void {
    this.database.whenCommitted(host, task);
  }

  /**
   * Resolves as soon as no other transaction holds these policy records, which a commit has named in a `busy` outcome.
   *
   * @throws StorageUnavailableError when they are held for too long
   */
  whenFree(records: readonly string[]): Promise<void> {
    return this.policies.change(records, () => ({ result: undefined, changes: new Map() }));
  }

  /** The stored reply of a key that has not expired; with `host`, as its open transaction sees it. */
  replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined> {
    return this.database.read(() => findReply(key, now), host);
  }

  /**
   * Keeps the reply of something else than a send under a key, unless one is kept that has not expired.
   * @returns the earlier one; undefined: this one was kept
   */
  keep(once: IdempotencyKey, reply: object, now: number): Promise<StoredReply | undefined> {
    return this.database.write(() => keepReply(this.database.dialect, once, reply, now));
  }

  /** Forgets what `keep` has kept under a key for the same fingerprint. */
  async forget(once: IdempotencyKey): Promise<void> {
    await this.database.write(() => forgetReply(once));
  }

  /**
   * Claims due deliveries: sets them to `sending` with a lease and counts the attempt.
   *
   * Without lanes a batch is divided between priorities: `code` takes what it needs, `high`, `normal` and `bulk` share what is
   * left 8 : 4 : 2. Within a priority the accounts that have something due share equally, and within an account the longest
   * overdue come first. What one does not need, the others get, so that a batch is full while anything is due that no other
   * claim holds. The shares hold over the claims of a store, also where each takes one delivery, and accounts take turns.
   *
   * A store may overlook what another process has stored with a `due_at` in the past, for half a minute at most.
   *
   * @returns the first priority first, and within it the longest overdue
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
      // Where abandoned deliveries may be claimed again, a claim that a power cut undoes may be repeated too.
      const result = await (order.abandoned ? this.database.writeLazily(work) : this.database.write(work));
      return { result, floors: plan.remember() };
    });
    if (claimed.length > 0) memory.put({ status: 'sending', name: '', due: order.leaseUntil });
    return claimed;
  }

  /**
   * Applies `nextState` to each update under lock and refunds failed deliveries. Unknown ids are ignored.
   * @returns the deliveries that changed their state
   */
  async settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]> {
    const { dialect } = this.database;
    const moved = await this.recorder.write((publisher) => settleDeliveries(dialect, updates, publisher));
    this.memories.settled(updates, moved);
    return moved;
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
   * When the channel's next delivery is due, the next lease or the next wait for a report ends, milliseconds since the epoch;
   * undefined for never. A store may look at some accounts only, and may overlook what another process has stored lately.
   */
  nextDue(channel: string): Promise<number | undefined> {
    return this.database.read(() => nextDueTime(this.database.dialect, channel, this.memories.of(channel)));
  }

  /** A message of an account on a channel; undefined when there is none with this id. */
  find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined> {
    return this.database.read(() => findMessage(accountId, channel, id));
  }

  /** The first `FIRST_RECIPIENTS` recipients of a message, in the order of the send. */
  recipients(messageId: string): Promise<readonly StoredRecipient[]> {
    return this.database.browse(() => listRecipients(messageId), undefined);
  }

  /**
   * The first recipient of each message with its history; a message whose recipients were removed is left out.
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

  /** The traces of these messages, of those that have one. */
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
   * A store may examine a limited number of messages and recipients for a page: with a number, a status, a sender or
   * metadata, a page may contain fewer than `limit`, even none, and have a `next`. So may a page of long texts, which has
   * about `MAX_PAGE_BYTES` and at least one message.
   *
   * @throws MessagingError `error.invalid_cursor` when `after` is no message of this account and channel of these kinds: an empty page
   *   would mean that there are no further messages
   */
  list(query: MessageQuery): Promise<Page<StoredMessage>> {
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

  /**
   * Removes at most `limit` replies that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  purgeReplies(now: number, limit: number): Promise<number> {
    return this.database.write(() => purgeReplies(this.database.dialect, now, limit));
  }

  /** The units that families of keys with a cap have spent on a day (`dayOf`), by family; missing: none. */
  keySpending(families: readonly string[], day: number): Promise<ReadonlyMap<string, number>> {
    return this.database.read(() => findKeySpending(this.database.dialect, families, day));
  }

  /**
   * Removes at most `limit` rows of what families have spent until a day.
   * @returns how many were removed
   */
  purgeKeySpending(until: number, limit: number): Promise<number> {
    return this.database.write(() => purgeKeySpending(this.database.dialect, until, limit));
  }
}
