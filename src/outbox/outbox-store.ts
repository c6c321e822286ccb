import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';
import type { DeliveryTransition } from '../events/delivery-transition.js';
import type { Metadata } from '../events/events.api.js';
import type { Decide, SendDecision, StoredReply } from './accept/decide.js';
import type { IdempotencyKey, Payload, Send } from './accept/send.js';
import type { AttemptEntry, DeliveryStatus, DeliveryUpdate, TrailEntry } from './delivery-state.js';
import type { Priority } from './queue/priority.js';

export type { DeliveryTransition } from '../events/delivery-transition.js';

/**
 * The result of a send's commit. `busy` occurs only when the caller did not want to wait: another transaction holds the send's
 * account, or those records of its policy that `records` names. Nothing was written then.
 */
export type CommitOutcome = SendDecision | { readonly kind: 'busy'; readonly records?: readonly string[] };

/** Which locks of other transactions a commit waits for: all, those of accounts but not of policy records, or none. */
export type WaitFor = 'all' | 'accounts' | 'none';

/** A delivery that a worker holds for the time of its lease. */
export interface Delivery {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly lane: string | undefined;
  readonly priority: Priority;
  readonly sender: string;
  readonly payload: Payload;
  readonly number: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** True: the carrier may have accepted an earlier attempt, because its answer was lost or its worker left it `sending`. */
  readonly doubtful?: boolean;
  /** True: the lease of the worker that had claimed it last has ended without a result. */
  readonly abandoned?: boolean;
  /** When the send was accepted, milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** See `Send.trace`. */
  readonly trace?: string;
}

/** Which deliveries a worker claims. */
export interface ClaimOrder {
  readonly channel: string;
  /** At most so many. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** End of the lease, milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** Also claim deliveries that are `sending` after the end of their lease, for transports that may repeat. */
  readonly abandoned: boolean;
  /**
   * Only these lanes, one delivery each: one that was tried or is `sending`, otherwise the first by priority and then by the
   * order in which the sends were stored; none where it is `sending` or not due yet. Undefined: only deliveries without a lane.
   */
  readonly lanes?: readonly string[];
  /**
   * `code`: only deliveries of this priority, so that one-time passcodes are claimed while a channel has no capacity for others.
   * Undefined: all.
   */
  readonly only?: 'code';
  /** The ids of accounts of which nothing is claimed, codes neither; the batch is filled with those of others. */
  readonly except?: readonly string[];
}

/** Which overdue deliveries a worker ends. */
export interface ExpiryOrder {
  readonly channel: string;
  /** At most so many. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `sent`: no report came in time; `sending`: the lease ended and the transport must not repeat. */
  readonly statuses: readonly ('sent' | 'sending')[];
}

/** A recipient by the id that the carrier gave it. */
export interface ReferredDelivery {
  readonly reference: string;
  readonly messageId: string;
  readonly position: number;
}

/** A stored trail entry of one recipient. */
export interface TrailStep {
  readonly position: number;
  readonly entry: TrailEntry;
}

/** A stored message without its recipients. */
export interface StoredMessage {
  readonly id: string;
  readonly accountId: string;
  readonly channel: string;
  readonly lane: string | undefined;
  readonly sender: string;
  readonly payload: Payload;
  /** Undefined where the send had none, and when the payload's content was removed. */
  readonly metadata: Metadata | undefined;
  readonly units: number;
  readonly refundedUnits: number;
  /** The number of recipients. */
  readonly recipients: number;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
}

/** A stored recipient. */
export interface StoredRecipient {
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly units: number;
  readonly refundedUnits: number;
  readonly error: string | undefined;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** A recipient with its newest attempts. */
export interface RecipientDetails extends StoredRecipient {
  /** Its place in the send, from 0. */
  readonly position: number;
  /** The newest `SHOWN_ATTEMPTS`, oldest first. */
  readonly attempts: readonly AttemptEntry[];
  /** The number of stored attempts: entries of its trail for which `isAttempt` holds. */
  readonly attemptsCount: number;
}

/** The most attempts that `RecipientDetails` has. */
export const SHOWN_ATTEMPTS = 10;

/** Which recipients of a message a page contains, in the order of the send. */
export interface RecipientQuery {
  /** The account of the message, among whose listings it counts. */
  readonly accountId?: string | undefined;
  /** At most so many. */
  readonly limit: number;
  /** The first position of the page, from 0: the `next` of the previous page. */
  readonly from?: number | undefined;
  /** Only recipients whose `shownStatus` is this. */
  readonly status?: DeliveryStatus | undefined;
}

/**
 * One page of a message's recipients. A store may examine a limited number of recipients for a page: with a status, a page
 * may contain fewer than `limit`, even none, and have a `next`.
 */
export interface RecipientPage {
  readonly items: readonly RecipientDetails[];
  /** The first position of the next page; undefined at the end. */
  readonly next: number | undefined;
  /** Refunded units of the whole message, read in the same snapshot as `items`. */
  readonly refundedUnits: number;
}

/** Which messages a listing contains. One and the same recipient must meet all conditions on recipients. */
export interface MessageQuery extends PageRequest {
  readonly accountId: string;
  readonly channel: string;
  /** The kinds of payloads. */
  readonly kinds: readonly string[];
  /** Only messages with this recipient, of the kinds `text` and `media`. */
  readonly number?: string | undefined;
  /** Only messages with a recipient whose `shownStatus` is this. */
  readonly status?: DeliveryStatus | undefined;
  readonly sender?: string | undefined;
  /** Only messages whose metadata has all of these. */
  readonly metadata?: Metadata | undefined;
  /** Only messages accepted at this time or later, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only messages accepted before this time, milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/** A recipient with its history. */
export interface TrackedRecipient extends StoredRecipient {
  /** Oldest first. */
  readonly trail: readonly TrailEntry[];
}

/** The most numbers or recipients of a message that `numbers` and `recipients` return. */
export const FIRST_RECIPIENTS = 100;

/**
 * Persists sends and their deliveries. Every method is one transaction, and is durable when it resolves. Each throws
 * `StorageUnavailableError` when the database does not answer.
 */
export abstract class OutboxStore {
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
  abstract commit(
    sends: readonly Send[],
    decide: Decide,
    host?: HostTransaction,
    waitFor?: WaitFor,
  ): Promise<readonly CommitOutcome[]>;

  /**
   * Runs `task` after the host's open transaction has been committed, and never when it is rolled back. A store that cannot
   * observe the commit may run it at once: workers then wake in vain, and the host may get an event of a message that is
   * rolled back afterwards.
   */
  whenCommitted(_host: HostTransaction, task: () => void): void {
    task();
  }

  /**
   * Resolves as soon as no other transaction holds these policy records, which a commit has named in a `busy` outcome. A store
   * without such outcomes need not wait.
   *
   * @throws StorageUnavailableError when they are held for too long
   */
  async whenFree(_records: readonly string[]): Promise<void> {}

  /** The stored reply of a key that has not expired; with `host`, as its open transaction sees it. */
  abstract replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined>;

  /**
   * Keeps the reply of something else than a send under a key, unless one is kept that has not expired.
   * @returns the earlier one; undefined: this one was kept
   */
  abstract keep(once: IdempotencyKey, reply: object, now: number): Promise<StoredReply | undefined>;

  /** Forgets what `keep` has kept under a key for the same fingerprint. */
  abstract forget(once: IdempotencyKey): Promise<void>;

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
  abstract claim(order: ClaimOrder): Promise<readonly Delivery[]>;

  /**
   * Applies `nextState` to each update under lock and refunds failed deliveries. Unknown ids are ignored.
   * @returns the deliveries that changed their state
   */
  abstract settle(updates: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]>;

  /**
   * Moves deliveries whose report deadline or lease has passed to `unknown`.
   * @returns the deliveries that were moved
   */
  abstract expire(order: ExpiryOrder): Promise<readonly DeliveryTransition[]>;

  /**
   * When the channel's next delivery is due, the next lease or the next wait for a report ends, milliseconds since the epoch;
   * undefined for never. A store may look at some accounts only, and may overlook what another process has stored lately.
   */
  abstract nextDue(channel: string): Promise<number | undefined>;

  /** A message of an account on a channel; undefined when there is none with this id. */
  abstract find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined>;

  /** The first `FIRST_RECIPIENTS` recipients of a message, in the order of the send. */
  abstract recipients(messageId: string): Promise<readonly StoredRecipient[]>;

  /**
   * The first recipient of each message with its history; a message whose recipients were removed is left out.
   * @param accountId the account of the messages, among whose listings it counts
   */
  abstract firstRecipients(
    messageIds: readonly string[],
    accountId?: string,
  ): Promise<ReadonlyMap<string, TrackedRecipient>>;

  /** A page of a message's recipients with their attempts; empty for an unknown message. */
  abstract recipientPage(messageId: string, query: RecipientQuery): Promise<RecipientPage>;

  /** The trail entries of a message's deliveries, oldest first. */
  abstract trail(messageId: string): Promise<readonly TrailStep[]>;

  /** All deliveries of a channel that were stored with one of these references of the carrier. */
  abstract byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]>;

  /** The traces of these messages, of those that have one. It may be left out: then webhooks are not linked to sends. */
  traces?(messageIds: readonly string[]): Promise<readonly string[]>;

  /**
   * The first `FIRST_RECIPIENTS` numbers of each message, in the order of its send.
   * @param accountId the account of the messages, among whose listings it counts
   */
  abstract numbers(messageIds: readonly string[], accountId?: string): Promise<ReadonlyMap<string, readonly string[]>>;

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
  abstract list(query: MessageQuery): Promise<Page<StoredMessage>>;

  /**
   * Removes at most `limit` replies that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  abstract purgeReplies(now: number, limit: number): Promise<number>;

  /** The units that families of keys with a cap have spent on a day (`dayOf`), by family; missing: none. */
  abstract keySpending(families: readonly string[], day: number): Promise<ReadonlyMap<string, number>>;

  /**
   * Removes at most `limit` rows of what families have spent until a day.
   * @returns how many were removed
   */
  abstract purgeKeySpending(until: number, limit: number): Promise<number>;
}
