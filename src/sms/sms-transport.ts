import type { DeliveryStatus } from '../outbox/delivery-status.js';
import type { DeliveryTiming, HandOff, RepeatPolicy } from '../outbox/hand-off.js';

export type { DeliveryTiming, RepeatPolicy } from '../outbox/hand-off.js';

/** What the carrier made of one SMS. */
export type SubmitResult = HandOff;

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
}

/** A delivery report: what became of an SMS after it was taken. */
export interface SmsReport {
  readonly smsId: string;
  readonly position: number;
  readonly status: Extract<DeliveryStatus, 'sent' | 'delivered' | 'undelivered' | 'failed' | 'unknown'>;
  readonly error?: string;
}

/** Where a transport hands in its reports. Resolves when they are stored, so a carrier's report is acknowledged after that. */
export type ReportSink = (reports: readonly SmsReport[]) => Promise<void>;

/** Carries SMS out of the process. */
export abstract class SmsTransport {
  /** For logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** Timing that suits this carrier; the host's options stand above it. */
  readonly timing: Partial<DeliveryTiming> = {};

  /** Opens links. Called once, before the first `submit`. */
  abstract start(report: ReportSink): Promise<void>;

  /**
   * Hands a batch to the carrier; one result for each SMS, in the same order. `signal` fires when the process wants to
   * stop: finish what is on the wire, answer `retry` for the rest. A throw counts as `unknown` for the whole batch.
   */
  abstract submit(batch: readonly OutgoingSms[], signal: AbortSignal): Promise<readonly SubmitResult[]>;

  /** Closes links. Called once, after the last `submit`. */
  abstract stop(): Promise<void>;
}
