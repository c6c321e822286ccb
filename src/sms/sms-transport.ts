import { describePort, mapIfAny, method, methodIfAny, nonEmptyText, objectIfAny, oneOf } from '../common/port.js';
import type { ReportedStatus } from '../events/delivery-status.js';
import {
  type DeliveryResult,
  type DeliveryTiming,
  REPEAT_POLICIES,
  type RepeatPolicy,
} from '../outbox/delivery/delivery-result.js';
import type { Priority } from '../outbox/queue/priority.api.js';
import type { RouteState } from './carrier-state.js';

export type { DeliveryTiming, RepeatPolicy } from '../outbox/delivery/delivery-result.js';

/** One attempt at one carrier. */
export interface RouteAttempt {
  /** The name of the link, gateway or route. */
  readonly route: string;
  readonly outcome: DeliveryResult['kind'];
  /** The carrier's own code, if it gave one. */
  readonly code?: string;
  /** When the attempt ended, in milliseconds since the epoch. */
  readonly at: number;
}

/** The result of submitting one SMS. */
export type SubmitResult = DeliveryResult & {
  /** The route that was used. Receipts are matched under this name. Default: the transport's name. */
  readonly route?: string;
  /**
   * The carrier's ids of the parts in their order. `''` for a part without an id. Without ids no {@link CarrierReceipt} can
   * match.
   */
  readonly carrierIds?: readonly string[];
  /** The carrier's count of segments, if it reports one. It is stored together with our own count. */
  readonly segments?: number;
  /** All attempts that led to this result, oldest first. Default: this one. */
  readonly attempts?: readonly RouteAttempt[];
};

/** One SMS to one number. */
export interface OutgoingSms {
  /** The id of the send (`smsID`). */
  readonly smsId: string;
  /** The position of the recipient in the send, from 0. Together with `smsId` it identifies this SMS permanently. */
  readonly position: number;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly text: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The priority of the SMS. If SMS wait in the transport, it must hand over the highest priority first. Default `normal`. */
  readonly priority?: Priority;
  /**
   * The time after which the SMS is useless, in milliseconds since the epoch: the expiry of a code, or the end of the
   * validity of a send. A transport refuses a later hand-over with the error `expired`, and submits what is left if its
   * carrier takes a validity.
   */
  readonly expiresAt?: number;
  /**
   * When the window of the send closes, in milliseconds since the epoch. An SMS that still waits in the transport then is
   * `postponed` with the error `window_closed`. A transport that hands over at once can ignore it.
   */
  readonly closesAt?: number;
  /** The span of this hand-over as W3C `traceparent`, if it is traced. A transport adds it to its request. */
  readonly trace?: string;
}

/** A delivery report: the status of an SMS after the carrier has accepted it. */
export interface SmsReport {
  readonly smsId: string;
  readonly position: number;
  readonly status: ReportedStatus;
  /**
   * The {@link OutgoingSms.attempt} that the report is about, if the carrier names it. The report then settles an SMS only if the
   * SMS is `unknown` since that attempt, for example after a crash, and if no earlier attempt may have been accepted. `every`:
   * the carrier makes one SMS of all attempts, and the report settles that SMS while it is `unknown`. Default: the report is
   * about the SMS, whatever its attempt.
   */
  readonly attempt?: number | 'every';
  readonly error?: string;
}

/**
 * A carrier's receipt for one part, identified by the carrier's id. `aggregatePartStatus` derives the status of the SMS from its
 * parts. `failed` (the carrier did not accept it) is refunded if it is reported for every part. `undelivered` is never refunded.
 */
export interface CarrierReceipt {
  /** The route of the {@link SubmitResult}. */
  readonly route: string;
  /** The id in all forms that the carrier may have returned at the submit, the most likely first. */
  readonly ids: readonly string[];
  /**
   * The recipient, if the receipt names it, because some carriers give several SMS the same id. Digits without the plus sign. It
   * chooses among the SMS with that id. It may be another spelling of the number that the SMS was sent to, for example without
   * its country code. Omit a number that is not made of digits.
   */
  readonly number?: string;
  /**
   * The other address of the receipt, if it is a number. Some carriers leave sender and recipient as in the SMS, others exchange
   * them. If `number` finds no SMS, this number is used in the same way.
   */
  readonly otherNumber?: string;
  readonly status: SmsReport['status'];
  /**
   * With `sent`: the carrier has handed the SMS to the phone's network, and there may be no further receipt. An SMS of one part
   * then stays `sent` without a deadline, until another receipt arrives. An SMS of several parts does so too if the receipt is
   * for the `whole` SMS. Default false: a `sent` receipt is ignored.
   */
  readonly mayBeLast?: boolean;
  /**
   * True: the carrier reports once on the whole SMS, under the id of any of its parts, and the status applies to all
   * parts of that attempt. Default false: the receipt is for one part.
   */
  readonly whole?: boolean;
  /**
   * True: the carrier gives all parts of an SMS the same id, reports each part, and its time is exact. A receipt whose status and
   * time another part of the SMS already has is then a repeat, and does not count for a second part. Default false.
   */
  readonly isRepeatByTime?: boolean;
  /** The carrier's count of segments, if it reports it after the submit. The id must be the one of each part. */
  readonly segments?: number;
  /** With `sent`. True: the transport does not know the carrier's state. The receipt is counted and changes nothing. */
  readonly unread?: boolean;
  readonly error?: string;
  /**
   * The time of the event by the carrier's own clock, even if that clock is ahead, in milliseconds since the epoch. A repeat of
   * the receipt must have the same time. Undefined if the carrier gives no time. Then the current time is used, and if the
   * carrier reuses ids, the receipt may be dropped.
   */
  readonly at?: number;
}

/** The position of a part in its text. */
export interface PartPlace {
  /** The reference that the parts of one text share. It is unique only per sender and recipient. */
  readonly reference: string;
  readonly total: number;
  /** The number of the part. The first part is 1. */
  readonly number: number;
}

/** Returns the position of a part. Undefined for values that are not a position, for example of a whole text. */
export function partPlace(reference: string, total = 0, number = 0): PartPlace | undefined {
  return total > 1 && number >= 1 && number <= total ? { reference, total, number } : undefined;
}

/** An inbound text from a phone. */
export interface InboundSms {
  readonly route: string;
  /** The number of the phone, E.164 digits without the plus sign. */
  readonly from: string;
  /** The destination: a number or a short code. */
  readonly to: string;
  readonly text: string;
  /** The carrier's id, if it gives one. A text with the same route and id is a repeat. */
  readonly id?: string;
  /**
   * The key by which the transport recognises a repeat if there is no id. A text with the same route and key within an hour is a
   * repeat. Without id and key, the same text from the same phone to the same destination within ten minutes is a repeat.
   */
  readonly key?: string;
  /**
   * The position of a part of a long text. Parts are stored, and the process that gets the last part joins them. Repeats are then
   * recognised by the parts, not by `id` or `key`. Default: the text is whole.
   */
  readonly part?: PartPlace;
  /** True: a text of several parts of which some are missing. Its words opt nobody out or in. Default false. */
  readonly incomplete?: boolean;
}

/**
 * Stores reports, receipts and texts that a transport receives from its carrier. Each method resolves after storing. Acknowledge
 * to the carrier only then.
 * @throws StorageUnavailableError from every method. Then do not acknowledge, so that the carrier sends it again
 */
export interface SmsSink {
  /** Stores reports of a carrier that uses our own ids. */
  report(reports: readonly SmsReport[]): Promise<void>;
  /** Stores receipts with the carrier's ids. A receipt that matches no SMS yet is kept and matched later. */
  receipts(receipts: readonly CarrierReceipt[]): Promise<void>;
  /** Applies opt-out words, and stores the events of each text once, no matter how often the text comes. It joins parts. */
  inbound(messages: readonly InboundSms[]): Promise<void>;
  /**
   * Counts a text that is dropped because the number of its phone cannot be read for sure, and logs the number masked.
   * @param address the sender's number as the carrier has written it
   */
  unread(route: string, address: string): void;
}

/** A carrier's HTTP call to our callback route. */
export interface CarrierCallback {
  /**
   * `POST`, or `GET` with an empty body and the content in the query. A handler refuses a method that its carrier does
   * not use.
   */
  readonly method: string;
  /** The URL that the carrier called: scheme, host, path and query. */
  readonly url: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The secret, which is the last segment of the path, if there is one. */
  readonly secret: string | undefined;
}

/** The answer to a carrier's call. */
export interface CallbackAnswer {
  /** 2xx means that the content is stored and that the carrier should not repeat the call. */
  readonly status: number;
  readonly body?: string;
  readonly contentType?: string;
}

/**
 * Authenticates a carrier's call, stores its content and then answers. 400, 403, 404, 415 and 503 without a body get our error
 * body.
 * @param sink stores the content. It also works in a process without workers, in which `start` is not called
 * @throws StorageUnavailableError it becomes a 503, so that the carrier repeats the call
 */
export type CallbackHandler = (callback: CarrierCallback, sink: SmsSink) => Promise<CallbackAnswer>;

/** Reports the result of one SMS while others of its batch are being submitted. */
export type ReportResult = (sms: OutgoingSms, result: SubmitResult) => void;

/** Submits SMS to a carrier. Extend this class to add a carrier. `describeSmsTransport` tests an implementation. */
export abstract class SmsTransport {
  /** The transport's name, for logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** The timing for this carrier. The host's options override it. */
  readonly timing: Partial<DeliveryTiming> = {};
  /** The handlers of `POST` and `GET …/sms/callbacks/<name>` and `…/<name>/<secret>`, by name. */
  readonly callbacks: ReadonlyMap<string, CallbackHandler> = new Map();

  /** Opens connections. Called before the first `submit`, and again only after it has thrown. */
  abstract start(sink: SmsSink): Promise<void>;

  /**
   * Submits a batch and returns one result per SMS, in the same order. `signal` is aborted when the process stops: finish
   * requests on the wire, and return `retry` or `postponed` for the rest. An exception counts as `unknown` for all SMS without a
   * reported result. An SMS without a result at the end of the lease (`timing.leaseMs`) is abandoned. If the transport is
   * `at-most-once`, the SMS becomes `unknown`. Otherwise it is submitted again.
   *
   * @param report reports the result of one SMS (the object of the batch) as soon as it is known, so that a crash or a slow SMS
   * does not lose the results of the others. A transport with slow batches calls it. The first result of an SMS counts.
   */
  abstract submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    report?: ReportResult,
  ): Promise<readonly SubmitResult[]>;

  /**
   * Returns how many more SMS the transport can hand over to the carrier within the next 250 ms, besides those that it already
   * has. Typical reasons for a limit are the carrier's rate limit and its limit of unanswered requests. Workers claim no more
   * than this at a time. Other SMS stay in the database, in the order of their priorities.
   *
   * Return at least 1 while the transport has no SMS, unless it knows that the carrier takes none in this time. Less than 1
   * means: none now. Undefined, or a transport without this method, means: no limit. The method is called several times a second
   * and must return at once.
   */
  capacity?(): number | undefined;

  /**
   * Returns the routes that the transport has now, for health and metrics. The method is called every second and must return at
   * once, from memory. Without it, the transport counts as one usable route.
   *
   * If an operator rests a route (`OperatingSwitches`), a transport with several routes must stop using it. We do not do that
   * for the transport. A transport with one route is not called while that route rests.
   */
  state?(): readonly RouteState[];

  /** Closes connections. Called once, after the last `submit`. */
  abstract stop(): Promise<void>;
}

describePort(SmsTransport, {
  name: nonEmptyText,
  repeat: oneOf(...REPEAT_POLICIES),
  timing: objectIfAny,
  callbacks: mapIfAny,
  start: method,
  submit: method,
  stop: method,
  capacity: methodIfAny,
  state: methodIfAny,
});
