import type { Page, PageRequest } from '../common/listing/page.js';
import type { Variables } from '../common/text/personal-text.js';
import type { Metadata } from '../events/events.api.js';
import type { SendDecision } from './accept/decide.js';
import type { Payload } from './accept/send.js';
import type { AttemptEntry, DeliveryStatus, TrailEntry } from './delivery-state.js';
import type { Priority } from './queue/priority.api.js';
import type { Schedule } from './schedule/schedule.js';

export type { DeliveryTransition } from '../events/delivery-transition.js';

/**
 * The result of a send's commit. `busy` occurs only if the caller did not want to wait: another transaction has locked
 * the send's account, or the records of its policy that `records` names. In that case nothing was written.
 */
export type CommitOutcome = SendDecision | { readonly kind: 'busy'; readonly records?: readonly string[] };

/**
 * Which locks of other transactions a commit waits for: all, only those of accounts and not those of policy records, or
 * none.
 */
export type WaitFor = 'all' | 'accounts' | 'none';

/** A delivery that a worker has claimed for the time of its lease. */
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
  /** The recipient's values of a personal text. */
  readonly vars?: Variables;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /**
   * True: the carrier may have accepted an earlier attempt, because its answer was lost or its worker ended while the
   * delivery was `sending`.
   */
  readonly doubtful?: boolean;
  /** True: the lease of the worker that claimed the delivery last has ended without a result. */
  readonly abandoned?: boolean;
  /** When the send was accepted, milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** See `Send.schedule`. */
  readonly schedule?: Schedule;
  /** See `Send.trace`. */
  readonly trace?: string;
}

/** Selects the deliveries that a worker claims. */
export interface ClaimOrder {
  readonly channel: string;
  /** The maximum number of items. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** End of the lease, milliseconds since the epoch. */
  readonly leaseUntil: number;
  /** Also claim deliveries that are `sending` after the end of their lease, for transports that may repeat. */
  readonly abandoned: boolean;
  /**
   * Only deliveries of these lanes, one of each lane. The first of a lane is the delivery that was tried or is
   * `sending`; if there is none, the first by priority and then by the order in which the sends were stored. If the
   * first one is `sending` or not due yet, nothing of the lane is claimed. Undefined: only deliveries without a lane.
   */
  readonly lanes?: readonly string[];
  /**
   * `code`: only deliveries of this priority, so that one-time passcodes are claimed while a channel has no capacity for others.
   * Undefined: all.
   */
  readonly only?: 'code';
  /**
   * The ids of accounts whose deliveries are not claimed, nor are their codes. The batch is filled with deliveries of
   * other accounts.
   */
  readonly except?: readonly string[];
}

/** Selects the overdue deliveries that a worker ends. */
export interface ExpiryOrder {
  readonly channel: string;
  /** The maximum number of items. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `sent`: no report came in time; `sending`: the lease ended and the transport must not repeat. */
  readonly statuses: readonly ('sent' | 'sending')[];
}

/** A recipient that was found by the carrier's id. */
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
  /** Undefined if the send had none, or if the payload's content was removed. */
  readonly metadata: Metadata | undefined;
  readonly units: number;
  readonly refundedUnits: number;
  /** The number of recipients. */
  readonly recipients: number;
  /** Milliseconds since the epoch. */
  readonly acceptedAt: number;
  /** See `Send.schedule`. */
  readonly schedule?: Schedule | undefined;
}

/** A stored recipient. */
export interface StoredRecipient {
  readonly number: string;
  readonly status: DeliveryStatus;
  readonly units: number;
  readonly refundedUnits: number;
  readonly error: string | undefined;
  /** The values of a personal text; undefined for other texts, and if they were removed. */
  readonly vars?: Variables;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  /** While it is `queued`: when it is due, milliseconds since the epoch, if that is later than `updatedAt`. */
  readonly dueAt?: number;
}

/** A recipient with its newest attempts. */
export interface RecipientDetails extends StoredRecipient {
  /** Its place in the send, from 0. */
  readonly position: number;
  /** The newest `SHOWN_ATTEMPTS`, oldest first. */
  readonly attempts: readonly AttemptEntry[];
  /** The number of stored attempts: the entries of its trail for which `isAttempt` is true. */
  readonly attemptsCount: number;
}

/** The maximum number of attempts that `RecipientDetails` has. */
export const SHOWN_ATTEMPTS = 10;

/** Selects a page of a message's recipients, in the order of the send. */
export interface RecipientQuery {
  /** The account of the message. The query counts as one of this account's listings. */
  readonly accountId?: string | undefined;
  /** The maximum number of items. */
  readonly limit: number;
  /** The first position of the page, from 0: the `next` of the previous page. */
  readonly from?: number | undefined;
  /** Only recipients whose `shownStatus` is this. */
  readonly status?: DeliveryStatus | undefined;
}

/**
 * One page of a message's recipients. A store examines a limited number of recipients for a page. So with a `status`, a
 * page may have fewer recipients than `limit`, even none, and still have a `next`.
 */
export interface RecipientPage {
  readonly items: readonly RecipientDetails[];
  /** The first position of the next page; undefined at the end. */
  readonly next: number | undefined;
  /** Refunded units of the whole message, read in the same snapshot as `items`. */
  readonly refundedUnits: number;
}

/** One page of a search for messages. A store examines a limited number of messages and recipients for a page. */
export interface MessagePage<T = StoredMessage> extends Page<T> {
  /**
   * Set if the search stopped before the page was full: every message accepted after this time was examined.
   * Milliseconds since the epoch.
   */
  readonly searchedUntil?: number;
}

/** Selects the messages of a listing. One and the same recipient must meet all conditions on recipients. */
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
  /** Only messages whose metadata has all these keys with these values. */
  readonly metadata?: Metadata | undefined;
  /** Only messages accepted at this time or later, milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only messages accepted before this time, milliseconds since the epoch. */
  readonly until?: number | undefined;
  /**
   * Only messages that wait for a `send_at` later than this, milliseconds since the epoch; the next one first. The other
   * conditions have no effect then.
   */
  readonly dueAfter?: number | undefined;
}

/** A recipient with its history. */
export interface TrackedRecipient extends StoredRecipient {
  /** Oldest first. */
  readonly trail: readonly TrailEntry[];
}

/** The maximum number of numbers or recipients of a message that `numbers` and `recipients` return. */
export const FIRST_RECIPIENTS = 100;
