import type { DeliveryResult, DeliveryTiming, RepeatPolicy } from '../outbox/delivery-result.js';
import type { DeliveryStatus } from '../outbox/delivery-state.js';

export type { DeliveryTiming, RepeatPolicy } from '../outbox/delivery-result.js';

/** One try at one carrier. */
export interface RouteAttempt {
  /** Name of the link, gateway or route that was tried. */
  readonly route: string;
  readonly outcome: DeliveryResult['kind'];
  /** The carrier's own code, where it gave one. */
  readonly code?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What the carrier made of one SMS. */
export type SubmitResult = DeliveryResult & {
  /** Where it went; receipts are looked for under this name. Default: the transport's. */
  readonly route?: string;
  /** The carrier's ids of the parts in their order, `''` where it gave none. Without it no {@link CarrierReceipt} will match. */
  readonly carrierIds?: readonly string[];
  /** How many segments the carrier counted, where it tells; kept beside our own count. */
  readonly segments?: number;
  /** Every try that led here, oldest first. Default: this one. */
  readonly attempts?: readonly RouteAttempt[];
};

/** One SMS to one number. */
export interface OutgoingSms {
  /** The send's id (`smsID`). */
  readonly smsId: string;
  /** The recipient's place in the send, from 0; with `smsId` it names this SMS for ever. */
  readonly position: number;
  readonly signature: string;
  /** E.164 digits without the plus sign. */
  readonly number: string;
  readonly text: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** After this it is of no use to anybody (a code's end), milliseconds since the epoch. */
  readonly expiresAt?: number;
}

/** A delivery report: what became of an SMS after it was taken. */
export interface SmsReport {
  readonly smsId: string;
  readonly position: number;
  readonly status: Extract<DeliveryStatus, 'sent' | 'delivered' | 'undelivered' | 'failed' | 'unknown'>;
  readonly error?: string;
}

/**
 * A carrier's receipt for one part, known only by the carrier's id. `aggregatePartStatus` says what the parts make of the SMS; `failed`
 * (the carrier never took it) is refunded when it is said of every part, `undelivered` never is.
 */
export interface CarrierReceipt {
  /** As in {@link SubmitResult}. */
  readonly route: string;
  /** The id in every form in which the carrier may have given it at the submit, the most trusted first. */
  readonly ids: readonly string[];
  /**
   * The recipient, where the receipt names it: ids of some carriers repeat. E.164 digits without the plus sign; it must be
   * the number that the SMS was sent to, so leave out what cannot be brought into that form.
   */
  readonly number?: string;
  readonly status: SmsReport['status'];
  /**
   * With `sent`: the carrier has handed the SMS to the phone's network, and no other receipt may follow. An SMS of one part
   * then stays `sent` without a deadline, until a receipt says more. Default false: `sent` says nothing new.
   */
  readonly mayBeLast?: boolean;
  readonly error?: string;
  /**
   * When it happened by the carrier's own clock, even when that is ahead, milliseconds since the epoch; a repeat must have the
   * same. Undefined: the carrier does not say; it is taken as from now, and where ids repeat it may be for nobody.
   */
  readonly at?: number;
}

/** A text that came in from a phone. */
export interface InboundSms {
  readonly route: string;
  /** Who sent it, E.164 digits without the plus sign. */
  readonly from: string;
  /** What it was sent to: a number or a short code. */
  readonly to: string;
  readonly text: string;
  /** The carrier's id, where it gives one. */
  readonly id?: string;
}

/** Where a transport hands in what it hears. Each resolves when it is stored, so a carrier gets its acknowledgement after that. */
export interface SmsSink {
  /** Reports of a carrier that knows our own ids. */
  report(reports: readonly SmsReport[]): Promise<void>;
  /** Receipts under the carrier's ids; one that nothing matches yet is kept and matched later. */
  receipts(receipts: readonly CarrierReceipt[]): Promise<void>;
  inbound(messages: readonly InboundSms[]): Promise<void>;
}

/** A carrier's HTTP call to us, as it came. */
export interface CarrierCallback {
  /** `POST`, or `GET` with an empty body: the carrier's words are in the query then. A handler refuses what it does not expect. */
  readonly method: string;
  /** The URL as the carrier knows it: scheme, host, path and query. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The last segment of a secret path, where the call came on one. */
  readonly secret: string | undefined;
}

/** What a carrier's call is answered. */
export interface CallbackAnswer {
  /** 2xx: stored, do not call again. */
  readonly status: number;
  readonly body?: string;
  readonly contentType?: string;
}

/**
 * Checks a carrier's call and hands in what it says; answers when that is stored. 400, 403, 404 and 503 without a body get
 * our error body. A throw of `StorageUnavailableError` is a 503, so the carrier calls again.
 * @param sink where to hand it in; also there in a process that does not deliver, where `start` is not called
 */
export type CallbackHandler = (callback: CarrierCallback, sink: SmsSink) => Promise<CallbackAnswer>;

/** Takes the result of one SMS while others of its batch are still under way. */
export type TellResult = (sms: OutgoingSms, result: SubmitResult) => void;

/** Carries SMS out of the process. */
export abstract class SmsTransport {
  /** For logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** Timing that suits this carrier; the host's options stand above it. */
  readonly timing: Partial<DeliveryTiming> = {};
  /** Who answers `POST` and `GET …/sms/callbacks/<name>` and `…/<name>/<secret>`, by name. */
  readonly callbacks: ReadonlyMap<string, CallbackHandler> = new Map();

  /** Opens links. Called before the first `submit`; again only when it threw. */
  abstract start(sink: SmsSink): Promise<void>;

  /**
   * Hands a batch to the carrier; one result for each SMS, in the same order. `signal` fires when the process wants to
   * stop: finish what is on the wire, answer `retry` or `postponed` for the rest. A throw counts as `unknown` for all that
   * was not told before. What is not answered when the lease ends (`timing.leaseMs`) is given up on: a transport that is
   * `at-most-once` is not asked again, any other is given it once more.
   *
   * A transport whose batches may take long calls `tell` with the result of each SMS (the object of the batch itself) as
   * soon as it has it, so that a crash, or one slow SMS, does not cost what is known of the others. The first result of an
   * SMS counts.
   */
  abstract submit(
    batch: readonly OutgoingSms[],
    signal: AbortSignal,
    tell?: TellResult,
  ): Promise<readonly SubmitResult[]>;

  /** Closes links. Called once, after the last `submit`. */
  abstract stop(): Promise<void>;
}
