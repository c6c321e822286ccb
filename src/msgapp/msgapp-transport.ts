import type { MediaKind } from '../media/media-type.js';
import type { DeliveryResult, DeliveryTiming, RepeatPolicy } from '../outbox/delivery-result.js';
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
  /** The bytes, from the start each time it is called. */
  open(): AsyncIterable<Uint8Array>;
}

/** UTF-16 code units of a text or caption: no app lets anybody write more, and each is one message whatever its length. */
export const LONGEST_TEXT = 65_536;

/** One message to one number. */
export interface OutgoingMsgapp {
  /** The send's id (`messageID`). */
  readonly messageId: string;
  /** The sending number, E.164 digits without the plus sign. */
  readonly from: string;
  readonly to: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly content: { readonly text: string } | { readonly media: OutgoingMedia };
}

/** How a connection ended, and what that means for its session. */
export type LinkEnd =
  /** Part of pairing or asked for by the server: connect again at once, with the same credentials. */
  | { readonly next: 'restart'; readonly reason: string }
  /** The network or the server: connect again, later each time. */
  | { readonly next: 'retry'; readonly reason: string }
  /** Something is wrong that may pass: connect again a few times only, then the session has failed. */
  | { readonly next: 'retry-few'; readonly reason: string }
  /** Never again. `logged_out` also means: the credentials are worth nothing any more. */
  | {
      readonly next: 'give-up';
      readonly status: 'expired' | 'logged_out' | 'replaced' | 'banned' | 'failed';
      readonly reason: string;
    };

/** What a connection has to tell. After `ended` it says nothing any more. */
export type LinkEvent =
  /** Scan this; it takes the place of the one before. */
  | { readonly kind: 'qr'; readonly qr: string; readonly expiresAt: number }
  /** Somebody scanned it: the credentials belong to this number now. */
  | { readonly kind: 'linked'; readonly number: string }
  /** Messages can be sent. */
  | { readonly kind: 'open'; readonly number: string }
  /** What became of a message, by the reference that its hand-off gave. */
  | {
      readonly kind: 'receipt';
      readonly reference: string;
      readonly status: 'sent' | 'delivered' | 'read' | 'failed';
      readonly error?: string;
      readonly at: number;
    }
  /** The channel restricts this number: no messages to people who do not know it, for `forMs`. */
  | { readonly kind: 'restricted'; readonly code: string; readonly forMs: number }
  /** Something the operator should know, for instance `passkey_required`; the state does not change. */
  | { readonly kind: 'notice'; readonly reason: string }
  | { readonly kind: 'ended'; readonly end: LinkEnd };

/** One connection of one session. It is used up when it has ended. */
export interface Link {
  /** Hands over one message; resolves when the server has acknowledged it or time is up. Never called twice at a time. */
  send(message: OutgoingMsgapp, signal: AbortSignal): Promise<DeliveryResult>;
  /** Whether somebody is reachable there; undefined when that could not be found out. */
  exists(number: string): Promise<boolean | undefined>;
  /** Closes the connection; the number stays linked. Ends without an `ended` event. */
  close(): Promise<void>;
  /** Unlinks the number and closes. Ends without an `ended` event. */
  logout(): Promise<void>;
}

/** Hears what a connection has to tell. Resolves when the session has dealt with it; nobody has to wait for that. */
export type LinkListener = (event: LinkEvent) => Promise<void>;

/** A connection that is wanted. */
export interface LinkOrder {
  readonly sessionId: string;
  /** The channel's name. */
  readonly channel: string;
  readonly credentials: SessionCredentials;
  /** Whether the credentials were linked before: then no code is to be shown. */
  readonly linked: boolean;
}

/** How long sessions wait for what; all in milliseconds. */
export interface SessionTiming {
  /** How long a session belongs to a process that has stopped renewing it. */
  readonly leaseMs: number;
  /** How long somebody may take to scan, over all codes of a session. */
  readonly scanMs: number;
  /** How long a connection may say nothing before it shows a code, opens or ends; also between a scan and the opening. */
  readonly answerMs: number;
  /** How long a connection must have been open before its earlier failures are forgotten. */
  readonly steadyMs: number;
  /** The pause between two sessions that are opened again after a restart, on average. */
  readonly staggerMs: number;
}

/** How fast one session may send. */
export interface Pacing {
  /** Messages a minute, on average; `Infinity`: no pacing. */
  readonly perMinute: number;
  /** How much the pause between two messages varies, 0 to 1: 0.5 is between half and one and a half of it. */
  readonly jitter: number;
}

/** Carries messages of a messaging-app channel out of the process, and links numbers to it. */
export abstract class MsgappTransport {
  /** For logs and records. */
  abstract readonly name: string;
  abstract readonly repeat: RepeatPolicy;
  /** Timing that suits this transport; the host's options stand above it. */
  readonly timing: Partial<DeliveryTiming> = {};
  /** Pacing that suits it; the host's options stand above it. */
  readonly pacing: Partial<Pacing> = {};
  /** Waits that suit it; the host's options stand above it. */
  readonly sessions: Partial<SessionTiming> = {};

  /** Called once, before the first `open`. */
  async start(): Promise<void> {}

  /**
   * Starts one connection and answers at once; all else comes to `listener`. Every connection ends with one `ended`, unless
   * it is closed from our side. The session manager sees to it that a session has one connection at a time.
   */
  abstract open(order: LinkOrder, listener: LinkListener): Promise<Link>;

  /** Called once, after the last link was closed. */
  async stop(): Promise<void> {}
}
