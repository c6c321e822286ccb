import type { Metadata } from '../events/events.api.js';
import type { LinkOffer, MsgappMessage, MsgappSendResult, SessionStatus, SessionsView } from '../msgapp/msgapp.api.js';
import type { Caller, CallOptions, SendOptions, StreamCallOptions } from './caller.js';
import type { Listing } from './listing.js';
import type { SendPriority } from './sms.js';

export type {
  LinkOffer,
  MsgappMessage,
  MsgappSendResult,
  SessionStatus,
  SessionsView as MsgappSessions,
  SessionView as MsgappSession,
} from '../msgapp/msgapp.api.js';

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
  sessions({ sessionID, ...options }: CallOptions & { readonly sessionID?: string } = {}): Promise<SessionsView> {
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
