import type { DeliveryStatus } from '../events/delivery-status.api.js';
import type { Metadata } from '../events/events.api.js';
import type { Caller, CallOptions, SendOptions, StreamCallOptions } from './caller.js';
import type { Listing } from './listing.js';
import type { SendPriority } from './sms.js';

/** A session that waits to be linked. Moments are ISO 8601, UTC. */
export interface LinkOffer {
  readonly sessionID: string;
  /** Gives access to the codes of this session. Never log it. */
  readonly qrToken: string;
  readonly status: 'created';
  readonly qr_url: string;
  /** When the session ends unless it is scanned. */
  readonly expires_at: string;
}

export type SessionStatus =
  | 'created'
  | 'connected'
  | 'reconnecting'
  | 'expired'
  | 'logged_out'
  | 'replaced'
  | 'banned'
  | 'failed';

/** A session of the account. */
export interface MsgappSession {
  readonly sessionID: string;
  readonly status: SessionStatus;
  /** Null before the scan. */
  readonly number: string | null;
  readonly created_at: string;
  readonly connected_at: string | null;
  readonly reason: string | null;
}

/** The sessions, newest first. On top the requested one, else the first connected one, else the newest. */
export type MsgappSessions =
  | { readonly status: 'disconnected'; readonly sessions: readonly [] }
  | (Pick<MsgappSession, 'sessionID' | 'status' | 'number'> & { readonly sessions: readonly MsgappSession[] });

/** News of a session that waits to be linked. */
export type LinkNews =
  | {
      readonly type: 'qr';
      /** The text of the code. Who scans it gives the session control of his account: never log it. */
      readonly qr: string;
      /** A PNG as `data:` URL. */
      readonly image: string;
      readonly expires_at: string;
    }
  | {
      readonly type: 'status';
      readonly sessionID: string;
      readonly status: SessionStatus;
      readonly number?: string;
      readonly reason?: string;
    };

/** What all messages have. */
interface Addressed {
  /** E.164 digits without the plus sign. */
  readonly to: string;
  /** The sending number. Default: of the connected ones, the one that was connected first. */
  readonly from?: string | undefined;
  /** Default: `normal`. */
  readonly priority?: SendPriority | undefined;
  /** Given back in look-ups, listings and events: at most 16 keys, 512 characters in all. */
  readonly metadata?: Metadata | undefined;
}

export interface TextOrder extends Addressed {
  readonly body: string;
}

export type MediaType = 'image' | 'video' | 'document' | 'audio' | 'voice';

export interface MediaOrder extends Addressed {
  /** http or https, on a public address, at most 50 MB; the service fetches it. */
  readonly mediaUrl: string;
  /** Default: by the file's content. */
  readonly mediaType?: MediaType | undefined;
  readonly caption?: string | undefined;
}

/** The answer to a send: stored and charged. */
export interface MsgappSendResult {
  readonly success: true;
  readonly messageID: string;
}

/** A message with its status. */
export interface MsgappMessage {
  readonly messageID: string;
  readonly from: string;
  readonly to: string;
  /** Null for a file, and when it was removed. */
  readonly body: string | null;
  readonly media: {
    readonly type: string;
    readonly mimetype: string;
    readonly fileName: string;
    readonly size: number;
    readonly sha256: string;
    readonly caption: string | null;
  } | null;
  /** Null where there was none, and when the content was removed. */
  readonly metadata: Metadata | null;
  readonly status: DeliveryStatus;
  readonly error: string | null;
  readonly units: number;
  readonly refunded_units: number;
  readonly queued_at: string;
  readonly sent_at: string | null;
  readonly delivered_at: string | null;
  readonly read_at: string | null;
  readonly failed_at: string | null;
  readonly updated_at: string;
}

/** The messages to list. All conditions must hold. */
export interface MsgappListQuery {
  /** The largest page, 1 to 500. Default 50. */
  readonly limit?: number | undefined;
  readonly to?: string | undefined;
  readonly from?: string | undefined;
  readonly status?: MsgappMessage['status'] | undefined;
  /** Accepted at this time or later: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Accepted before this time. */
  readonly until?: string | undefined;
  /** With these values in their metadata. */
  readonly metadata?: Metadata | undefined;
}

/** The routes of one messaging-app channel. */
export class MsgappRoutes {
  readonly #caller: Caller;
  readonly #channel: string;

  constructor(caller: Caller, channel: string) {
    this.#caller = caller;
    this.#channel = channel;
  }

  /** Requests a session to link a number to; `watchCode` shows the codes to scan. */
  connect(options?: CallOptions): Promise<LinkOffer> {
    return this.#caller.json({ method: 'POST', path: [this.#channel, 'web', 'connect'], repeat: 'unsafe' }, options);
  }

  /** @param sessionID the session to show on top */
  sessions({ sessionID, ...options }: CallOptions & { readonly sessionID?: string } = {}): Promise<MsgappSessions> {
    return this.#caller.json({ path: [this.#channel, 'web', 'status'], query: { sessionID } }, options);
  }

  /** Unlinks a number and deletes its credentials. */
  logout(sessionID: string, options?: CallOptions): Promise<{ readonly success: true }> {
    return this.#caller.json({ method: 'DELETE', path: [this.#channel, 'web', sessionID] }, options);
  }

  /**
   * The codes to scan, each time one changes, and the session's status. Ends when the number is linked or cannot be any more; a
   * broken connection is opened anew. Needs no other authentication than the token.
   *
   * @throws MessagingApiError `qr_not_found` for a token that is unknown or spent
   */
  async *watchCode(qrToken: string, options?: StreamCallOptions): AsyncGenerator<LinkNews, void> {
    const ask = { path: this.#code(qrToken), credentials: 'none' } as const;
    for await (const { type, data } of this.#caller.events(ask, options)) {
      const news: LinkNews = { type, ...JSON.parse(data) };
      yield news;
      if (news.type === 'status' && !['created', 'reconnecting'].includes(news.status)) return;
    }
  }

  /** The code to scan now, as PNG; waits up to 10 s for the first. */
  codeImage(qrToken: string, options?: CallOptions): Promise<Blob> {
    const ask = { path: [...this.#code(qrToken), 'image'], credentials: 'none', accept: 'image/png' } as const;
    return this.#caller.read(ask, options, (response) => response.blob());
  }

  sendText(order: TextOrder, options?: SendOptions): Promise<MsgappSendResult> {
    return this.#send('text', order, options);
  }

  sendMedia(order: MediaOrder, options?: SendOptions): Promise<MsgappSendResult> {
    return this.#send('media', order, options);
  }

  message(messageID: string, options?: CallOptions): Promise<MsgappMessage> {
    return this.#caller.json({ path: [this.#channel, 'messages', messageID] }, options);
  }

  /** Newest first. */
  messages(query?: MsgappListQuery, options?: CallOptions): Listing<MsgappMessage> {
    return this.#caller.list([this.#channel, 'messages'], query, options);
  }

  /**
   * The file of a message that came in, while the session of the message lives. It was sent by anybody: treat it with care.
   *
   * @param id the `data.id` of the event `msgapp.received`
   * @throws MessagingApiError 410 when the app has it no more
   */
  receivedMedia(id: string, options?: CallOptions): Promise<Blob> {
    const ask = { path: [this.#channel, 'received', id, 'media'], accept: '*/*', large: true } as const;
    return this.#caller.read(ask, options, (response) => response.blob());
  }

  #send(kind: string, body: object, options?: SendOptions): Promise<MsgappSendResult> {
    return this.#caller.json({ method: 'POST', path: [this.#channel, 'send', kind], body, repeat: 'keyed' }, options);
  }

  #code(qrToken: string): string[] {
    return [this.#channel, 'web', 'qr', qrToken];
  }
}
