import type { SmsTransport } from '../../../src/sms/sms-transport.js';

/** What the carrier's double does with an SMS to a number. */
export type DoubleOutcome =
  /** Accepts it. */
  | 'taken'
  /** Refuses it permanently. */
  | 'refused'
  /** Refuses it temporarily. */
  | 'busy'
  /** Receives it and does not answer, or breaks the connection. */
  | 'lost';

/** Optional abilities of a double. */
export type TransportPart = Exclude<DoubleOutcome, 'taken'> | 'report' | 'say';

/** One SMS as a phone shows it, with its parts joined. */
export interface ReceivedSms {
  readonly signature: string;
  readonly text: string;
}

/** A transport under test, with a double of its carrier. */
export interface SmsTransportHarness {
  /** The suite starts and stops it. */
  readonly transport: SmsTransport;

  /**
   * A number (E.164 digits) whose SMS have this outcome, a different one for each index (0 to 999). Undefined if the
   * double cannot produce it; `lacks` then names the outcome. `taken` is required.
   */
  number(outcome: DoubleOutcome, index: number): string | undefined;

  /** The SMS that the double has accepted for a number, in order of arrival, repetitions included. */
  received(number: string): Promise<readonly ReceivedSms[]> | readonly ReceivedSms[];

  /**
   * The carrier sends a receipt for the last SMS to a number. Resolves when the transport has answered, with whether it
   * confirmed the receipt (2xx, positive response). Left out if there are no receipts.
   */
  report?(number: string, status: 'delivered' | 'undelivered'): Promise<boolean>;

  /** The status of the SMS after a receipt of `undelivered`, if the carrier distinguishes no failures. Default `undelivered`. */
  readonly failure?: 'undelivered' | 'failed';

  /** The carrier forwards a text from a phone; resolves as `report` does. */
  say?(from: string, to: string, text: string): Promise<boolean>;

  /** Called repeatedly while the suite waits, for example to advance a fake clock. */
  pass?(): void;

  /** Closes the double, after the transport was stopped. */
  close(): Promise<void>;
}

/** Opens a transport and its double for one test. */
export type OpenSmsTransport = () => Promise<SmsTransportHarness>;
