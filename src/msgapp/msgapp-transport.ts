import { describePort, method, methodIfAny, nonEmptyText, objectIfAny, oneOf } from '../common/port.js';
import type { MediaKind } from '../media/media-type.js';
import {
  type DeliveryResult,
  type DeliveryTiming,
  REPEAT_POLICIES,
  type RepeatPolicy,
} from '../outbox/delivery/delivery-result.js';
import type { SessionCredentials } from './sessions/session-credentials.js';

export type { MediaKind } from '../media/media-type.js';

/** A file to send. */
export interface OutgoingMedia {
  readonly kind: MediaKind;
  readonly mimetype: string;
  readonly fileName: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  readonly caption: string | undefined;
  /** Returns the bytes, from the start at each call. */
  open(): AsyncIterable<Uint8Array>;
}

/** Longest text or caption, in UTF-16 code units. No app accepts longer ones, and each is one message whatever its length. */
export const MAX_TEXT = 65_536;

/** One message to one number. */
export interface OutgoingMsgapp {
  /** The send's id (`messageID`). */
  readonly messageId: string;
  /** The sending number, E.164 digits without the plus sign. */
  readonly from: string;
  readonly to: string;
  /** The app's address of `to`, which `exists` has given, perhaps on another connection; undefined where it gave none. */
  readonly address?: string | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly content: { readonly text: string } | { readonly media: OutgoingMedia };
}

/** A message that a person wrote to the linked number. */
export interface IncomingMsgapp {
  /** The app's id of the message, the same when the app repeats it. */
  readonly id: string;
  /** Who wrote it, by the app's own address, which is not shown. The app's ids are unique within it. */
  readonly chat: string;
  /** E.164 digits without the plus sign; undefined where the app hides the number. */
  readonly from: string | undefined;
  readonly kind: 'text' | MediaKind | 'reaction';
  /** The text, the caption of a file, or the reaction's character; undefined without one, and for a reaction that is taken back. */
  readonly text?: string | undefined;
  /** The file; for the kinds of files only. */
  readonly media?: IncomingMedia | undefined;
  /** The message that it answers or reacts to: the reference that `send` returned where we sent it, else the app's id. */
  readonly refersTo?: { readonly reference: string; readonly text?: string | undefined } | undefined;
  /** When the app took it, in milliseconds since the epoch. */
  readonly at: number;
}

/** The file of a message, which is fetched when somebody asks for it. */
export interface IncomingMedia {
  readonly mimetype: string;
  /** Bytes, as the sender says; undefined: not said. */
  readonly size: number | undefined;
  readonly fileName: string | undefined;
  /** What `openFile` needs, as text of at most 4000 characters. It is stored encrypted. */
  readonly file: string;
}

/** How a connection ended, and what follows for its session. */
export type LinkEnd =
  /** Part of pairing, or requested by the server: reconnect at once with the same credentials. */
  | { readonly next: 'restart'; readonly reason: string }
  /** A fault of the network or the server: reconnect with growing delays. */
  | { readonly next: 'retry'; readonly reason: string }
  /** A fault that may be temporary: reconnect a few times, then fail the session. */
  | { readonly next: 'retry-few'; readonly reason: string }
  /** Never reconnect. After `logged_out` the credentials are invalid too. */
  | {
      readonly next: 'give-up';
      readonly status: 'expired' | 'logged_out' | 'replaced' | 'banned' | 'failed';
      readonly reason: string;
    };

/** Events of a connection. `ended` is the last one. */
export type LinkEvent =
  /** A code to scan; it replaces the previous one. */
  | { readonly kind: 'qr'; readonly qr: string; readonly expiresAt: number }
  /** The code was scanned: the credentials belong to this number now. */
  | { readonly kind: 'linked'; readonly number: string }
  /** The connection is ready to send. */
  | { readonly kind: 'open'; readonly number: string }
  /** The result of a message, identified by the reference that `send` returned. */
  | {
      readonly kind: 'receipt';
      readonly reference: string;
      readonly status: 'sent' | 'delivered' | 'read' | 'failed';
      readonly error?: string;
      readonly at: number;
    }
  /** The channel restricts this number for `forMs` milliseconds: no messages to people who do not know it. */
  | { readonly kind: 'restricted'; readonly code: string; readonly forMs: number }
  /**
   * Somebody wrote to the number. The listener resolves when the message is stored, so that a transport can confirm it then. Not
   * for messages in groups and broadcasts, and of the number itself.
   */
  | { readonly kind: 'message'; readonly message: IncomingMsgapp }
  /** Information for the operator, for instance `passkey_required`; the state does not change. */
  | { readonly kind: 'notice'; readonly reason: string }
  | { readonly kind: 'ended'; readonly end: LinkEnd };

/**
 * The result of a send. `wrongAddress`: the app does not reach the number at its `address` (any more), so the address is
 * forgotten and the app's server is asked again before the next attempt.
 */
export type LinkResult = DeliveryResult & { readonly wrongAddress?: true };

/** One connection of one session. It cannot be reused after it has ended. */
export interface Link {
  /** Sends one message; resolves when the server has acknowledged it or time is up. Calls never overlap. */
  send(message: OutgoingMsgapp, signal: AbortSignal): Promise<LinkResult>;
  /**
   * Whether a number is on the channel; undefined when that could not be determined. An app that may know a number by another
   * address gives that address instead of true, at most 255 characters; the sessions of all accounts then send to it for a day.
   */
  exists(number: string): Promise<string | boolean | undefined>;
  /** Closes the connection without an `ended` event; the number stays linked. */
  close(): Promise<void>;
  /** Unlinks the number and closes the connection, without an `ended` event. */
  logout(): Promise<void>;
}

/** Receives the events of a connection. Resolves when the session has processed the event; transports need not await it. */
export type LinkListener = (event: LinkEvent) => Promise<void>;

/** What a transport needs to open a connection. */
export interface LinkOrder {
  readonly sessionId: string;
  /** The channel's name. */
  readonly channel: string;
  readonly credentials: SessionCredentials;
  /** Whether the credentials are linked already; then no code must be shown. */
  readonly linked: boolean;
}

/** Waits of sessions, in milliseconds. */
export interface SessionTiming {
  /** Lease of a session: how long it stays with a process that has stopped renewing it. */
  readonly leaseMs: number;
  /** How long a session waits for a scan, over all of its codes. */
  readonly scanMs: number;
  /** How long a connection may be silent before it shows a code, opens or ends; also between a scan and the opening. */
  readonly answerMs: number;
  /** How long a connection must stay open before its earlier failures are forgotten. */
  readonly steadyMs: number;
  /** Average pause between the openings of two sessions after a restart. */
  readonly staggerMs: number;
}

/** Send rate of one session. */
export interface Pacing {
  /** Average number of messages per minute; `Infinity`: no pacing. */
  readonly perMinute: number;
  /** Variation of the pause between two messages, 0 to 1: with 0.5 it lasts 0.5 to 1.5 times the average. */
  readonly jitter: number;
}

/**
 * Transport of a messaging-app channel: sends its messages and links numbers to it. Extend it to add an app;
 * `describeMsgappTransport` tests an implementation.
 */
export abstract class MsgappTransport {
  /** Name for logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** Default timing of deliveries on this transport; the host's options override it. */
  readonly timing: Partial<DeliveryTiming> = {};
  /** Default pacing on this transport; the host's options override it. */
  readonly pacing: Partial<Pacing> = {};
  /** Default waits of sessions on this transport; the host's options override them. */
  readonly sessions: Partial<SessionTiming> = {};

  /** Called once, before the first `open`. */
  async start(): Promise<void> {}

  /**
   * Starts one connection and resolves at once; results arrive as events at `listener`. Every connection ends with one
   * `ended`, unless we close it. The session manager ensures that a session has at most one connection at a time.
   */
  abstract open(order: LinkOrder, listener: LinkListener): Promise<Link>;

  /**
   * Opens the file of a message that came in, from the start. It needs no connection of its session and works in every process;
   * without this method files cannot be fetched.
   *
   * @param file `IncomingMedia.file`
   * @param signal aborts the opening, not the reading
   * @returns undefined when the app does not have the file any more; an error while it is read ends the answer
   */
  openFile?(file: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | undefined>;

  /** Called once, after the last link has been closed. */
  async stop(): Promise<void> {}
}

describePort(MsgappTransport, {
  name: nonEmptyText,
  repeat: oneOf(...REPEAT_POLICIES),
  timing: objectIfAny,
  pacing: objectIfAny,
  sessions: objectIfAny,
  start: method,
  open: method,
  openFile: methodIfAny,
  stop: method,
});
