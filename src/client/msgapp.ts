import type { Metadata } from '../events/events.api.js';
import type { MediaKind } from '../media/media.api.js';
import type {
  ActDone,
  LinkCodeView,
  LinkOffer,
  LinkStatusView,
  MsgappMessage,
  MsgappSendResult,
  SessionsView,
} from '../msgapp/msgapp.api.js';
import type { WindowInput } from '../outbox/windows/window.api.js';
import type { Caller, CallOptions, SendOptions, StreamCallOptions } from './caller.js';
import type { Listing } from './listing.js';
import type { CanceledMessage, SendPriority } from './sms.js';

export type { SessionStatus } from '../events/session-status.js';
export type {
  AccountSessions as MsgappAccountSessions,
  ActDone,
  LinkCodeView,
  LinkOffer,
  LinkStatusView,
  MsgappMessage,
  MsgappSendResult,
  NoSessions as MsgappNoSessions,
  SessionsView as MsgappSessions,
  SessionView as MsgappSession,
} from '../msgapp/msgapp.api.js';

/** An event of a session that waits to be linked. */
export type LinkNews = ({ readonly type: 'qr' } & LinkCodeView) | ({ readonly type: 'status' } & LinkStatusView);

/** The fields that all messages have. */
interface Addressed {
  /** E.164 digits without the plus sign, or a contact (`ct_…`), whose linked number then sends. Not needed with `reply_to`. */
  readonly to?: string | undefined;
  /** The received message that this one answers and quotes: the `data.id` of `msgapp.received`. */
  readonly reply_to?: string | undefined;
  /** The sending number. Default: the connected number that was connected first. */
  readonly from?: string | undefined;
  /** Default: `normal`. */
  readonly priority?: SendPriority | undefined;
  /** When it may be handed over: times of day and weekdays. Null: at any time, even if the service has a default. */
  readonly window?: WindowInput | null | undefined;
  /** Look-ups, listings and events repeat it. At most 16 keys, 512 characters in all. */
  readonly metadata?: Metadata | undefined;
  /** The earliest moment of the hand-over: RFC 3339 with an offset or `Z`, at most 180 days ahead. Default: at once. */
  readonly send_at?: string | undefined;
  /**
   * Seconds from `send_at`, or else from the acceptance, 5 to 2 592 000. A message that is not handed over by then fails
   * with the error `expired`, and its units are refunded.
   */
  readonly valid_for?: number | undefined;
}

/** A text to send. */
export interface TextOrder extends Addressed {
  readonly body: string;
}

/** The kind of a file. A voice message is shown with a player. */
export type MediaType = MediaKind;

/** A file to send. */
export interface MediaOrder extends Addressed {
  /** The URL of the file, from which the service fetches it: http or https, on a public address, at most 50 MB. */
  readonly mediaUrl: string;
  /** Default: the type that the file's content shows. */
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
  /** Only messages accepted at this time or later: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Only messages accepted before this time. */
  readonly until?: string | undefined;
  /** Only messages whose metadata has these values. */
  readonly metadata?: Metadata | undefined;
  /** True: only messages that wait for their `send_at`, the next one first. Give no other filter with it. */
  readonly scheduled?: true | undefined;
}

/** The credentials of a number, for an app without codes. */
export interface LinkCredentials {
  /** The app's id of the number. */
  readonly phone_number_id?: string | undefined;
  /** The token that may send from the number. */
  readonly access_token?: string | undefined;
}

/** The routes of one messaging-app channel. */
export class MsgappRoutes {
  readonly #caller: Caller;
  readonly #channel: string;

  constructor(caller: Caller, channel: string) {
    this.#caller = caller;
    this.#channel = channel;
  }

  /**
   * Requests a session to link a number. `watchCode` returns the codes to scan. An app without codes links the number whose
   * credentials you give, and `watchCode` returns its status only.
   */
  connect({ phone_number_id, access_token, ...options }: CallOptions & LinkCredentials = {}): Promise<LinkOffer> {
    const path = [this.#channel, 'web', 'connect'];
    const body = { phone_number_id, access_token };
    return this.#caller.json({ method: 'POST', path, repeat: 'unsafe', body }, options);
  }

  /** @param sessionID the session to show at the top level of the answer */
  sessions({ sessionID, ...options }: CallOptions & { readonly sessionID?: string } = {}): Promise<SessionsView> {
    return this.#caller.json({ path: [this.#channel, 'web', 'status'], query: { sessionID } }, options);
  }

  /** Unlinks a number and deletes its credentials. */
  logout(sessionID: string, options?: CallOptions): Promise<{ readonly success: true }> {
    return this.#caller.json({ method: 'DELETE', path: [this.#channel, 'web', sessionID] }, options);
  }

  /**
   * Returns each new code to scan, and the session's status. It ends when the number is linked or can no longer be linked. If the
   * connection breaks, the client opens it again. The token is the only authentication.
   *
   * @throws MessagingApiError `qr_not_found` for a token that is unknown or used up
   */
  async *watchCode(qrToken: string, options?: StreamCallOptions): AsyncGenerator<LinkNews, void> {
    const ask = { path: this.#code(qrToken), credentials: 'none' } as const;
    for await (const { type, data } of this.#caller.events(ask, options)) {
      const news: LinkNews = { type, ...JSON.parse(data) };
      yield news;
      if (news.type === 'status' && !['created', 'reconnecting'].includes(news.status)) return;
    }
  }

  /** Returns the current code to scan as a PNG. It waits up to 10 s for the first code. */
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

  /** Cancels a message that no worker has claimed, and refunds its units. A repeat changes nothing. */
  cancel(
    messageID: string,
    query?: { readonly number?: string | undefined },
    options?: CallOptions,
  ): Promise<CanceledMessage> {
    return this.#caller.json({ method: 'DELETE', path: [this.#channel, 'messages', messageID], query }, options);
  }

  /** Lists the messages, newest first. */
  messages(query?: MsgappListQuery, options?: CallOptions): Listing<MsgappMessage> {
    return this.#caller.list([this.#channel, 'messages'], query, options);
  }

  /**
   * Shows the writer of a received message that it was read.
   * @param id the `data.id` of the event `msgapp.received`
   */
  seen(id: string, options?: CallOptions): Promise<ActDone> {
    return this.#caller.json({ method: 'POST', path: [this.#channel, 'received', id, 'seen'] }, options);
  }

  /**
   * Reacts to a received message.
   *
   * @param id the `data.id` of the event `msgapp.received`
   * @param emoji one emoji, in place of an earlier reaction. Empty: takes the reaction back
   */
  react(id: string, emoji: string, options?: CallOptions): Promise<ActDone> {
    const path = [this.#channel, 'received', id, 'react'];
    return this.#caller.json({ method: 'POST', path, body: { emoji } }, options);
  }

  /**
   * Returns the file of a received message, as long as the message's session exists. Anybody can have sent the file: treat it
   * with care.
   *
   * @param id the `data.id` of the event `msgapp.received`
   * @throws MessagingApiError 410 if the app no longer has the file
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
