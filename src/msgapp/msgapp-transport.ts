import { describePort, mapIfAny, method, methodIfAny, nonEmptyText, objectIfAny, oneOf } from '../common/port.js';
import type { FinalSessionStatus } from '../events/session-status.js';
import type { MediaKind } from '../media/media.api.js';
import {
  type DeliveryResult,
  type DeliveryTiming,
  REPEAT_POLICIES,
  type RepeatPolicy,
} from '../outbox/delivery/delivery-result.js';
import type { CredentialChange, SessionCredentials } from './sessions/session-credentials.js';

export type { MediaKind } from '../media/media.api.js';

/** A file to send. */
export interface OutgoingMedia {
  readonly kind: MediaKind;
  readonly mimetype: string;
  readonly fileName: string;
  /** The size in bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, hex. */
  readonly sha256: string;
  readonly caption: string | undefined;
  /** Returns the bytes, from the start at each call. */
  open(): AsyncIterable<Uint8Array>;
}

/** The longest text or caption, in UTF-16 code units. No app accepts a longer one. A text is one message, whatever its length. */
export const MAX_TEXT = 65_536;

/** One message to one person. */
export interface OutgoingMsgapp {
  /** The send's id (`messageID`). */
  readonly messageId: string;
  /** The sending number, E.164 digits without the plus sign. */
  readonly from: string;
  /**
   * The recipient's number, E.164 digits without the plus sign. Undefined if the app hides the number; then `identity` says who the
   * recipient is. That happens only to a transport that reports identities (`IncomingMsgapp.identity`).
   */
  readonly to: string | undefined;
  /**
   * The recipient's identity, as the transport reported it for `from`. Always given without `to`. With `to` it is given if it is
   * known, and the transport may choose between the two.
   */
  readonly identity?: string | undefined;
  /** The app's address of `to`, which `exists` returned, perhaps on another connection. Undefined if it returned none. */
  readonly address?: string | undefined;
  /** The message that this one answers: the app shows it above the answer. A transport that cannot quote leaves it out. */
  readonly quote?: QuotedMsgapp | undefined;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly content: { readonly text: string } | { readonly media: OutgoingMedia };
}

/** A received message that an answer quotes. Its fields are those that `IncomingMsgapp` had. */
export interface QuotedMsgapp extends Pick<IncomingMsgapp, 'id' | 'chat'> {
  /** The beginning of its text or caption, for apps that show what the answer brings along. Undefined if it is not known. */
  readonly text?: string | undefined;
}

/** Something to do to a received message, besides answering it. The same act twice is the same as once. */
export type LinkAct =
  /** Shows its writer that it was read. */
  | { readonly kind: 'seen'; readonly message: QuotedMsgapp }
  /** Adds a reaction of one emoji, in place of an earlier one. Undefined: takes the reaction back. */
  | { readonly kind: 'react'; readonly message: QuotedMsgapp; readonly emoji: string | undefined };

/** A message that a person wrote to the linked number. */
export interface IncomingMsgapp {
  /** The app's id of the message. If the app repeats the message, the id is the same. */
  readonly id: string;
  /** The app's own address of the sender, which is not shown to anybody. The app's message ids are unique per sender. */
  readonly chat: string;
  /** The sender's number, E.164 digits without the plus sign. Undefined if the app hides the number. */
  readonly from: string | undefined;
  /**
   * The app's lasting identity of the sender, to which an answer can be sent without the number: a LID, or a business-scoped user
   * id. At most 255 characters. It need not be the same for another linked number. It is not shown to anybody. Undefined: the app
   * has none, or the transport cannot send to it. Then only a sender whose number is known can be answered.
   */
  readonly identity?: string | undefined;
  /** The name that the sender chose in the app. Undefined if the app gives none. */
  readonly name?: string | undefined;
  readonly kind: 'text' | MediaKind | 'reaction';
  /**
   * The text, the caption of a file, or the character of a reaction. Undefined if there is none, or if a reaction is taken back.
   */
  readonly text?: string | undefined;
  /** The file. Only for kinds that have one. */
  readonly media?: IncomingMedia | undefined;
  /** The message that this one answers or reacts to: the reference that `send` returned if we sent it, else the app's id. */
  readonly refersTo?: { readonly reference: string; readonly text?: string | undefined } | undefined;
  /** When the app accepted the message, in milliseconds since the epoch. */
  readonly at: number;
}

/** The file of a message, which is fetched when somebody asks for it. */
export interface IncomingMedia {
  readonly mimetype: string;
  /** The size in bytes that the sender claims. Undefined: the sender claims none. */
  readonly size: number | undefined;
  readonly fileName: string | undefined;
  /** The data that `openFile` needs, as a text of at most 4000 characters. It is stored encrypted. */
  readonly file: string;
}

/** How a connection ended, and what the session does next. */
export type LinkEnd =
  /** The end is a part of pairing, or the server asked for it: reconnect at once with the same credentials. */
  | { readonly next: 'restart'; readonly reason: string }
  /** A fault of the network or the server: reconnect with growing delays. */
  | { readonly next: 'retry'; readonly reason: string }
  /** A fault that may be temporary: reconnect a few times, then fail the session. */
  | { readonly next: 'retry-few'; readonly reason: string }
  /** Never reconnect. After `logged_out` the credentials are invalid too. */
  | {
      readonly next: 'give-up';
      readonly status: FinalSessionStatus;
      readonly reason: string;
    };

/** Events of a connection. `ended` is the last one. */
export type LinkEvent =
  /** A code to scan. It replaces the previous one. */
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
   * Somebody wrote to the number. The listener resolves when the message is stored, so that a transport can confirm it then. A
   * transport does not report messages in groups and broadcasts, nor messages of the number itself.
   */
  | { readonly kind: 'message'; readonly message: IncomingMsgapp }
  /**
   * The app says which number an identity has, or has now. The listener resolves when that is stored. A transport that reports both
   * with each message does not need this event.
   */
  | { readonly kind: 'identified'; readonly identity: string; readonly number: string }
  /** Information for the operator, for example `passkey_required`. The state does not change. */
  | { readonly kind: 'notice'; readonly reason: string }
  | { readonly kind: 'ended'; readonly end: LinkEnd };

/**
 * The result of a send. `wrongAddress`: the app cannot reach the number at its `address`, or no longer can. The address is then
 * forgotten, and the next attempt asks the app's server again.
 */
export type LinkResult = DeliveryResult & { readonly wrongAddress?: true };

/** One connection of one session. It cannot be reused after it has ended. */
export interface Link {
  /** Sends one message. Resolves when the server has acknowledged it or the time is over. Calls never overlap. */
  send(message: OutgoingMsgapp, signal: AbortSignal): Promise<LinkResult>;
  /**
   * Returns whether a number is on the channel, or undefined if that could not be determined. If the app may know a number by
   * another address, the method returns that address instead of true, at most 255 characters. The sessions of all accounts then
   * send to this address for a day.
   */
  exists(number: string): Promise<string | boolean | undefined>;
  /**
   * Does something to a received message. It may overlap with `send`. Resolves with whether the app took it. Only the kinds of
   * `MsgappTransport.acts` are asked for.
   */
  act?(act: LinkAct): Promise<boolean>;
  /** Closes the connection without an `ended` event. The number stays linked. */
  close(): Promise<void>;
  /** Unlinks the number and closes the connection, without an `ended` event. */
  logout(): Promise<void>;
}

/** Receives the events of a connection. Resolves when the session has processed the event. Transports need not await it. */
export type LinkListener = (event: LinkEvent) => Promise<void>;

/** The data with which a transport opens a connection. */
export interface LinkOrder {
  readonly sessionId: string;
  /** The channel's name. */
  readonly channel: string;
  readonly credentials: SessionCredentials;
  /** Whether the credentials are already linked. If so, the transport must not show a code. */
  readonly linked: boolean;
}

/** The fields with which an account links a number of an app that has no codes. Nobody has checked their content. */
export interface GivenCredentials {
  readonly phone_number_id?: string | undefined;
  readonly access_token?: string | undefined;
}

/** Credentials that the app has accepted. */
export interface AcceptedCredentials {
  /** The app's own address of the number, under which the app's calls report what happened to it. At most 255 characters. */
  readonly address: string;
  /** The secrets that `open` reads. They are stored encrypted. */
  readonly credentials: readonly CredentialChange[];
}

/** The result of a message that the app reports by a call. */
export type ReportedMsgapp = Pick<Extract<LinkEvent, { kind: 'receipt' }>, 'status' | 'error' | 'at'> &
  (
    | {
        /** The send's id, if the app repeats it. The transport must make sure that the id is of a message of this number. */
        readonly messageId: string;
        readonly reference?: string | undefined;
      }
    /** The reference that `send` returned. */
    | { readonly messageId?: undefined; readonly reference: string }
  );

/** What the app reports of the people who write to a number. */
export interface CalledMsgapp {
  /** See `AcceptedCredentials.address`. */
  readonly address: string;
  readonly message: IncomingMsgapp;
}

/** The content of one call of the app. */
export interface MsgappNews {
  readonly receipts: readonly ReportedMsgapp[];
  readonly messages: readonly CalledMsgapp[];
  /** Information for the operator, by the address of its number. */
  readonly notices: readonly { readonly address: string; readonly reason: string }[];
}

/** A call of the app. Header names are in lower case. */
export interface MsgappCall {
  readonly method: string;
  /** The query, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The bytes as they were sent. */
  readonly body: Uint8Array;
}

/** The answer to a call. Other statuses than 200 store nothing. */
export interface MsgappCallAnswer {
  /** 400: the call cannot be read. 403: its proof is wrong. */
  readonly status: 200 | 400 | 403;
  /** The text of the answer. Default: empty. */
  readonly body?: string;
}

/**
 * Handles a call of the app: checks its proof and reads its content.
 * @param store resolves when the content is stored. Storing it twice has the effect of once. It rejects if the database is
 * unavailable: then let the call fail, so that the app gets 503 and repeats it
 */
export type MsgappCallback = (
  call: MsgappCall,
  store: (news: MsgappNews) => Promise<void>,
) => Promise<MsgappCallAnswer>;

/** Waits of sessions, in milliseconds. */
export interface SessionTiming {
  /** The lease of a session: for how long it stays with a process that no longer renews it. */
  readonly leaseMs: number;
  /** How long a session waits for a scan, over all of its codes. */
  readonly scanMs: number;
  /** How long a connection may be silent before it shows a code, opens or ends, and also between a scan and the opening. */
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
 * The transport of a messaging-app channel sends its messages and links numbers to it. Extend this class to add an app.
 * `describeMsgappTransport` tests an implementation.
 */
export abstract class MsgappTransport {
  /** Name for logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** What its connections can do to received messages, with `Link.act`. */
  readonly acts: readonly LinkAct['kind'][] = [];
  /** Default timing of deliveries on this transport. The host's options override it. */
  readonly timing: Partial<DeliveryTiming> = {};
  /** Default pacing on this transport. The host's options override it. */
  readonly pacing: Partial<Pacing> = {};
  /** Default waits of sessions on this transport. The host's options override them. */
  readonly sessions: Partial<SessionTiming> = {};

  /**
   * The handlers of the app's calls, by the name in the path `…/callbacks/<name>`. An app that reports by calls needs no connection
   * for that: any process may get a call. Default: no calls.
   */
  readonly callbacks: ReadonlyMap<string, MsgappCallback> = new Map();

  /** Called once, before the first `open`. */
  async start(): Promise<void> {}

  /**
   * Checks the credentials with which an account links a number. A transport with this method shows no codes: `open` links the
   * number with the credentials, which are stored before.
   *
   * @throws MessagingError `error.field_missing` or `error.field_invalid` for a field, `error.credentials_refused` if the app does
   * not accept them, `error.storage_unavailable` if the app does not answer
   */
  acceptCredentials?(given: GivenCredentials, signal: AbortSignal): Promise<AcceptedCredentials>;

  /**
   * Starts one connection and resolves at once. Results arrive as events at `listener`. Every connection ends with one `ended`
   * event, unless we close it. The session manager makes sure that a session has at most one connection at a time.
   */
  abstract open(order: LinkOrder, listener: LinkListener): Promise<Link>;

  /**
   * Opens the file of a received message, from the start. It needs no connection of the session and works in every process. If a
   * transport does not have this method, files cannot be fetched.
   *
   * @param file `IncomingMedia.file`
   * @param signal aborts the opening, not the reading
   * @param credentials those of the session that got the message
   * @returns undefined if the app no longer has the file. An error while the file is read ends the answer
   */
  openFile?(
    file: string,
    signal: AbortSignal,
    credentials: Pick<SessionCredentials, 'read'>,
  ): Promise<AsyncIterable<Uint8Array> | undefined>;

  /** Called once, after the last link has been closed. */
  async stop(): Promise<void> {}
}

describePort(MsgappTransport, {
  name: nonEmptyText,
  repeat: oneOf(...REPEAT_POLICIES),
  acts: objectIfAny,
  timing: objectIfAny,
  pacing: objectIfAny,
  sessions: objectIfAny,
  callbacks: mapIfAny,
  start: method,
  acceptCredentials: methodIfAny,
  open: method,
  openFile: methodIfAny,
  stop: method,
});
