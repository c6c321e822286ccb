import type { GivenCredentials, MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';

/** One message as a phone shows it. */
export interface ReceivedMsgapp {
  /** The text, or the caption of a file; empty without one. */
  readonly text: string;
  /** SHA-256 of the file, hex; undefined for a text. */
  readonly sha256?: string | undefined;
  /** The app's id of the message that it quotes; undefined if it quotes none. */
  readonly quotes?: string | undefined;
}

/** What a phone writes. */
export interface WrittenMsgapp {
  readonly text?: string;
  /** Answers the last message that the phone received. */
  readonly answers?: true;
  readonly file?: Uint8Array;
  /** The message is the one before, repeated by the app. */
  readonly again?: true;
  /** The app hides the number of the phone. */
  readonly hidden?: true;
}

/** A transport under test, with a double of its app. */
export interface MsgappTransportHarness {
  /** The suite starts and stops it. */
  readonly transport: MsgappTransport;
  /** The number of the phone that scans, E.164 digits without the plus sign. */
  readonly phone: string;
  /**
   * The credentials that link `phone`, if the transport links numbers without codes. The tests of codes then pass, and `scan` is
   * not called.
   */
  readonly credentials?: GivenCredentials;
  /** The phone scans a code. */
  scan(qr: string): Promise<unknown>;
  /**
   * A number that is not on the app (`absent`), or whose messages are accepted, refused permanently, or refused for
   * now. `respelled`: the `taken` one with other digits, as people write it, which the app reaches by its own address
   * only. Undefined if the double cannot produce it; tests that need it then pass. `taken` is required.
   */
  number(outcome: 'taken' | 'respelled' | 'absent' | 'refused' | 'busy'): string | undefined;
  /** The messages that a number has received, in order of arrival, repetitions included. */
  received(number: string): Promise<readonly ReceivedMsgapp[]> | readonly ReceivedMsgapp[];
  /**
   * A phone writes to the linked number: a text, an answer to a message that it received, or a file. With `again` the
   * app delivers the previous message once more. Left out if the double has no phones that write; tests that need it
   * then pass.
   */
  write?(from: string, message: WrittenMsgapp): Promise<unknown>;
  /** Whether phones can write with a hidden number. Left out, the tests of hidden numbers pass. */
  readonly hidesNumbers?: true;
  /** Whether `received` says what messages quote. Left out, the tests of quotes pass. */
  readonly showsQuotes?: true;
  /** Called repeatedly while the suite waits, for example to advance a fake clock. */
  pass?(): void;
  /** Closes the double, after the transport was stopped. */
  close(): Promise<void>;
}

/** Opens a transport and its double for one test. */
export type OpenMsgappTransport = () => Promise<MsgappTransportHarness>;
