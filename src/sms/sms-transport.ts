import type { DeliveryStatus } from '../outbox/delivery-status.js';

/**
 * What happens when the fate of a hand-off is not known (a crash, a lost connection):
 * `idempotent`: repeating is harmless, the carrier knows our id; `at-least-once`: repeat, a recipient may get it twice;
 * `at-most-once`: never repeat, the delivery becomes `unknown`.
 */
export type RepeatPolicy = 'idempotent' | 'at-least-once' | 'at-most-once';

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

/** What the carrier made of one SMS. */
export type SubmitResult =
  /** Taken; `final` when its fate is known at once, else a report follows. */
  | {
      readonly kind: 'sent';
      readonly reference?: string;
      readonly final?: 'delivered' | 'undelivered';
      readonly error?: string;
    }
  /** Not taken, may work later. */
  | { readonly kind: 'retry'; readonly error: string }
  /** Not taken, never will be. */
  | { readonly kind: 'refused'; readonly error: string }
  /** Nobody knows. */
  | { readonly kind: 'unknown'; readonly error: string };

/** A delivery report: what became of an SMS after it was taken. */
export interface SmsReport {
  readonly smsId: string;
  readonly position: number;
  readonly status: Extract<DeliveryStatus, 'sent' | 'delivered' | 'undelivered' | 'failed' | 'unknown'>;
  readonly error?: string;
}

/** Where a transport hands in its reports. Resolves when they are stored, so a carrier's report is acknowledged after that. */
export type ReportSink = (reports: readonly SmsReport[]) => Promise<void>;

/** How long and how often; all in milliseconds but `maxAttempts`. What a transport leaves out, the options fill. */
export interface DeliveryTiming {
  /** How long a worker may hold a delivery. */
  readonly leaseMs?: number;
  /** How often a delivery is tried at the most. */
  readonly maxAttempts?: number;
  /** Wait before the second attempt; doubles each time, with full jitter on its upper half. */
  readonly retryBaseMs?: number;
  /** The longest wait between two attempts. */
  readonly retryMaxMs?: number;
  /** How long a report may take before the delivery becomes `unknown`. */
  readonly reportDeadlineMs?: number;
}

/** Carries SMS out of the process. */
export abstract class SmsTransport {
  /** For logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** Timing that suits this carrier; the host's options stand above it. */
  readonly timing: DeliveryTiming = {};

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
