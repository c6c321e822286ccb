import type { SmsTransport } from '../../sms/sms-transport.js';

/** What the carrier's double does with an SMS to a number. */
export type DoubleFate =
  /** Takes it. */
  | 'taken'
  /** Refuses it for good. */
  | 'refused'
  /** Refuses it this time. */
  | 'busy'
  /** Gets it, and nobody ever hears what became of it: the connection breaks, the answer never comes. */
  | 'lost';

/** One SMS as its phone would show it: the parts put together. */
export interface ReceivedSms {
  readonly signature: string;
  readonly text: string;
}

/** A transport under test, with a double of its carrier. */
export interface SmsTransportHarness {
  /** Not started yet; the suite starts and stops it. */
  readonly transport: SmsTransport;

  /**
   * A number whose SMS meet that fate, another one for each index (0 to 999), E.164 digits. Undefined where the double
   * cannot do it: the tests that need it then hold nothing against the transport. `taken` must be possible.
   */
  number(fate: DoubleFate, index: number): string | undefined;

  /** What the double took for a number, in the order it came, repeats included. */
  received(number: string): Promise<readonly ReceivedSms[]> | readonly ReceivedSms[];

  /**
   * The carrier says what became of the last SMS to a number. Resolves with whether it was told that this is stored
   * (a 2xx, a positive response), when it is told so. Left out where receipts do not exist.
   */
  report?(number: string, status: 'delivered' | 'undelivered'): Promise<boolean>;

  /** A phone sends a text; otherwise as `report`. */
  say?(from: string, to: string, text: string): Promise<boolean>;

  /** Called again and again while the suite waits for something: a place to turn a fake clock a little. */
  pass?(): void;

  /** Closes the double; the transport is stopped by then. */
  close(): Promise<void>;
}

/** Opens a transport and its double for one test. */
export type OpenSmsTransport = () => Promise<SmsTransportHarness>;
