import type { HostTransaction } from '../common/host-transaction.js';
import type { Page, PageRequest } from '../common/page.js';
import type { Decide, SendDecision, StoredReply } from './decide.js';
import type { DeliveryStatus, DeliveryUpdate, TrailEntry } from './delivery-state.js';
import type { IdempotencyKey, Payload, Send } from './send.js';

/**
 * What became of a send in a store; `busy` only where the caller did not want to wait: for its account, or for the records
 * of its guard that are named.
 */
export type CommitOutcome = SendDecision | { readonly kind: 'busy'; readonly records?: readonly string[] };

/** What a commit waits for while another transaction holds it: everything, accounts but no records of guards, or nothing. */
export type Patience = 'wait' | 'accounts' | 'skip';

/** A delivery that a worker holds for the time of its lease. */
export interface Delivery {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly lane: string | undefined;
  readonly sender: string;
  readonly payload: Payload;
  readonly number: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** True: an earlier attempt may have been taken, because its answer was lost or its worker left it `sending`. */
  readonly doubtful?: boolean;
  /** When the send was accepted, milliseconds since the epoch. */
  readonly acceptedAt: number;
}

/** Which deliveries a worker wants. */
export interface ClaimOrder {
  readonly channel: string;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** End of the lease, milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** Also take over what a worker left in `sending` past its lease (transports that may repeat). */
  readonly abandoned: boolean;
  /**
   * Only these lanes, one delivery each: the first in the order in which its sends were stored, unless it is on its way or
   * not due yet. Undefined: only deliveries without a lane.
   */
  readonly lanes?: readonly string[];
}

/** Which deliveries have waited too long. */
export interface ExpiryOrder {
  readonly channel: string;
  readonly limit: number;
  readonly now: number;
  /** `sent`: no report came; `sending`: the worker is gone and the transport must not repeat. */
  readonly statuses: readonly ('sent' | 'sending')[];
}

/** A recipient under the carrier's own id of it. */
export interface ReferredDelivery {
  readonly reference: string;
  readonly messageId: string;
  readonly position: number;
}

/** A kept step of one recipient's delivery. */
export interface TrailStep {
  readonly position: number;
  readonly entry: TrailEntry;
}

/** A delivery that changed its state. */
export interface DeliveryTransition {
  readonly messageId: string;
  readonly position: number;
  readonly accountId: string;
  readonly channel: string;
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly error: string | undefined;
  /** Units given back by this step. */
  readonly refund: number;
  readonly at: number;
}

/** A stored message without its recipients. */
export interface StoredMessage {
  readonly id: string;
  readonly accountId: string;
  readonly channel: string;
  readonly lane: string | undefined;
  readonly sender: string;
  readonly payload: Payload;
  readonly units: number;
  readonly refundedUnits: number;
  /** How many recipients it has. */
  readonly recipients: number;
  readonly acceptedAt: number;
}

/** A stored recipient. */
export interface StoredRecipient {
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly units: number;
  readonly refundedUnits: number;
  readonly error: string | undefined;
  readonly updatedAt: number;
}

/** A recipient with the newest attempts to deliver to it. */
export interface RecipientDetails extends StoredRecipient {
  /** Its place in the send, from 0. */
  readonly position: number;
  /** The newest `SHOWN_ATTEMPTS`, oldest first. */
  readonly attempts: readonly TrailEntry[];
  /** How many attempts were kept in all. */
  readonly attemptsCount: number;
}

/** The most attempts that `RecipientDetails` has. */
export const SHOWN_ATTEMPTS = 10;

/** Which recipients of a message a page shows, in the order of the send. */
export interface RecipientQuery {
  /** At most so many. */
  readonly limit: number;
  /** The first place to look at, from 0: the `next` of the page before. */
  readonly from?: number | undefined;
  /** Only recipients that their account sees in this state, see `shownStatus`. */
  readonly status?: DeliveryStatus | undefined;
}

/**
 * One page of a message's recipients. A store may look at a limited number of recipients for a page: with a status, a page
 * may hold fewer than `limit`, even none, and have a `next`.
 */
export interface RecipientPage {
  readonly items: readonly RecipientDetails[];
  /** Where the next page starts; undefined at the end. */
  readonly next: number | undefined;
  /** Units of the whole message that went back, read in the same moment as `items`. */
  readonly refundedUnits: number;
}

/** Which messages a listing shows. Conditions on recipients must be met by one and the same recipient. */
export interface MessageQuery extends PageRequest {
  readonly accountId: string;
  readonly channel: string;
  /** The payload's kind. */
  readonly kind: string;
  /** Only messages with this recipient. Only for the kind `text`. */
  readonly number?: string | undefined;
  /** Only messages with a recipient that the account sees in this state, see `shownStatus`. */
  readonly status?: DeliveryStatus | undefined;
  readonly sender?: string | undefined;
  /** Only messages accepted at this moment or later, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only messages accepted before this moment, milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/** The most numbers of a message, or recipients without a query, that a store reads at once. */
export const FIRST_RECIPIENTS = 100;

/**
 * Persists sends and their deliveries. Every method is one transaction: it happens whole or not at all, and what was
 * answered survives the process. All of them throw `StorageUnavailableError` when the database does not answer.
 */
export abstract class OutboxStore {
  /**
   * Locks the accounts, reads balances and kept replies, runs `decide` once over `sends`, and writes what it accepted:
   * debit, charge entry, message, recipients, reply. Outcomes stand in the order of the sends.
   *
   * With `host`, everything becomes part of the host's open transaction and shares its fate. With patience `skip`, sends of
   * an account that another transaction holds are not waited for: they come out as `busy` with nothing written, so that one
   * held account does not stall the others of its batch; nor are sends whose guard names a record that is held, also with
   * `accounts`. A batch that skips may also be decided as though every balance sufficed, by a store that then writes it only
   * where they all do; where they do not, it runs `decide` again on what it reads.
   */
  abstract commit(
    sends: readonly Send[],
    decide: Decide,
    host?: HostTransaction,
    patience?: Patience,
  ): Promise<readonly CommitOutcome[]>;

  /**
   * Runs `task` when the host's open transaction has been committed, and never when it is rolled back. A store that cannot
   * tell may run it at once: workers are woken in vain then, and a host may be told of a message that is undone afterwards.
   */
  whenCommitted(_host: HostTransaction, task: () => void): void {
    task();
  }

  /**
   * Resolves as soon as no other transaction holds these records of guards, which a commit has answered `busy` for. A store
   * that never does so has nothing to wait for.
   *
   * @throws StorageUnavailableError when they are held for too long
   */
  async whenFree(_records: readonly string[]): Promise<void> {}

  /** The live reply kept under a key, if any; with `host` as its open transaction sees it. */
  abstract replay(
    key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>,
    now: number,
    host?: HostTransaction,
  ): Promise<StoredReply | undefined>;

  /** Takes due deliveries, oldest due first, sets them to `sending` with a lease and counts the attempt. */
  abstract claim(order: ClaimOrder): Promise<readonly Delivery[]>;

  /** Applies `nextState` to each settlement under lock, refunds what failed, and answers what moved. Unknown ids are passed over. */
  abstract settle(settlements: readonly DeliveryUpdate[]): Promise<readonly DeliveryTransition[]>;

  /** Moves deliveries whose report deadline or lease has passed to `unknown`. */
  abstract expire(order: ExpiryOrder): Promise<readonly DeliveryTransition[]>;

  /** When the channel's next delivery is due, milliseconds since the epoch; undefined when none waits. */
  abstract nextDue(channel: string): Promise<number | undefined>;

  /** An account's message on a channel. */
  abstract find(accountId: string, channel: string, id: string): Promise<StoredMessage | undefined>;

  /** The first `FIRST_RECIPIENTS` recipients of a message in their order. */
  abstract recipients(messageId: string): Promise<readonly StoredRecipient[]>;

  /** A page of a message's recipients with their attempts; empty for an unknown message. */
  abstract recipientPage(messageId: string, query: RecipientQuery): Promise<RecipientPage>;

  /** The kept steps of a message's deliveries, oldest first. */
  abstract trail(messageId: string): Promise<readonly TrailStep[]>;

  /** The deliveries of a channel that settled with these references; of several under one, all. */
  abstract byReference(channel: string, references: readonly string[]): Promise<readonly ReferredDelivery[]>;

  /** The first `FIRST_RECIPIENTS` numbers of each of several messages, in the order of its send. */
  abstract numbers(messageIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;

  /**
   * An account's messages, newest first; `after` is the `next` of the page before, or the id of the last message seen.
   * Throws `error.invalid_cursor` when it is no message of this account, channel and kind: an empty page would say that all
   * has been seen.
   *
   * A store may look at a limited number of messages and recipients for a page: with a number, a status or a sender, a page
   * may hold fewer than `limit`, even none, and have a `next`.
   */
  abstract list(query: MessageQuery): Promise<Page<StoredMessage>>;

  /** Forgets replies that have expired, at most `limit`; answers how many. */
  abstract purgeReplies(now: number, limit: number): Promise<number>;
}
