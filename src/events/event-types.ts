import { PUBLISHED_STATUSES, type PublishedStatus } from './delivery-status.api.js';

/** The type of an event of one recipient's delivery, for instance `message.delivered`. */
export type DeliveryEventType = `message.${PublishedStatus}`;

/** One event for each state after `waiting`, see `DELIVERY_STATES`. */
type DeliveryEvents = { [T in DeliveryEventType]: DeliveryData };

/** What each type of event says, as webhooks and the feed give it. Moments are ISO 8601, amounts are units. */
export interface EventData extends DeliveryEvents {
  /** Once a send, when every recipient is complete: `delivered`, `read`, `undelivered`, `failed` or `unknown`. */
  'send.completed': SendData;
  /** A phone sent a text to a number of the account. */
  'sms.received': ReceivedSms;
  /** A linked number received a message. */
  'msgapp.received': ReceivedMessage;
  'optout.added': OptOutData;
  'optout.removed': OptOutData;
  /** A code was verified. */
  'otp.verified': CodeData;
  /** A code was not compared, because there were too many wrong tries for its number. */
  'otp.locked': CodeData & { readonly retry_after: number };
  /** No code was sent. `reason` is a rule of `limits`; `retry_after` in seconds, null when waiting changes nothing. */
  'otp.refused': CodeData & { readonly reason: string; readonly retry_after: number | null };
  'session.connected': SessionData;
  'session.reconnecting': SessionData;
  'session.logged_out': SessionData;
  'session.replaced': SessionData;
  'session.banned': SessionData;
  'session.expired': SessionData;
  'session.failed': SessionData;
  /** The app refuses messages of the number to new contacts until `until`. */
  'session.restricted': SessionData & { readonly until: string };
  /** For the operator; the session's state does not change. */
  'session.notice': SessionData;
  /** The balance has fallen below the account's threshold; once until it is above again. */
  'balance.low': { readonly balance: number; readonly threshold: number };
  'balance.topped_up': PostingData;
  'balance.adjusted': PostingData;
  'signature.verified': SignatureData;
  'signature.rejected': SignatureData;
  'key.created': KeyData;
  /** `replaced` is the id of the key that ends. */
  'key.rotated': KeyData & { readonly replaced: string };
  'key.revoked': KeyData;
  /** 72 hours of nothing but failures, or a 410. */
  'endpoint.disabled': { readonly id: string; readonly url: string; readonly reason: 'failures' | 'gone' };
}

/** The name of a type of event. */
export type EventType = keyof EventData;

/** One recipient's delivery. `signature` on SMS, `from` (the linked number) on messaging apps. */
export interface DeliveryData {
  /** The id of the send. */
  readonly id: string;
  readonly channel: string;
  /** The recipient's place in the send, from 0. */
  readonly position: number;
  readonly number: string;
  readonly signature?: string;
  readonly from?: string;
  readonly status: string;
  readonly error: string | null;
  readonly units: number;
  readonly refunded_units: number;
  readonly accepted_at: string;
  readonly metadata: Metadata | null;
  /** True if the metadata is too long for an event. The look-up of the send has it. */
  readonly metadata_omitted?: true;
}

/** A whole send. */
export interface SendData {
  readonly id: string;
  readonly channel: string;
  readonly signature?: string;
  readonly from?: string;
  readonly recipients_count: number;
  /** How many recipients each state has; states without any are left out. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly units: number;
  readonly refunded_units: number;
  readonly accepted_at: string;
  readonly metadata: Metadata | null;
  /** True if the metadata is too long for an event. The look-up of the send has it. */
  readonly metadata_omitted?: true;
}

/** What the sender gave with a send: at most 16 strings, 512 characters in all. */
export type Metadata = Readonly<Record<string, string>>;

/** A text from a phone. */
export interface ReceivedSms {
  readonly id: string;
  readonly from: string;
  /** The number or sender name that the phone wrote to. */
  readonly to: string;
  readonly text: string;
  /** Whether the end of a long text was cut off. */
  readonly truncated: boolean;
  readonly received_at: string;
}

/** A message to a linked number. */
export interface ReceivedMessage {
  readonly id: string;
  readonly channel: string;
  readonly session: string;
  /** Null where the app hides it. */
  readonly from: string | null;
  readonly kind: 'text' | 'image' | 'video' | 'document' | 'audio' | 'voice' | 'reaction';
  /** The text, the caption of a file, or the reaction's character; null without one, and for a reaction that is taken back. */
  readonly text: string | null;
  /** Whether the end of a long text was cut off. */
  readonly truncated: boolean;
  readonly media: { readonly mimetype: string; readonly size: number | null; readonly file_name: string | null } | null;
  /** The message that it answers or reacts to; `id` is ours where we sent it, else null. */
  readonly refers_to: { readonly id: string | null; readonly text: string | null } | null;
  readonly received_at: string;
}

export interface OptOutData {
  readonly number: string;
  readonly signature: string;
  readonly source: 'phone' | 'operator';
}

export interface CodeData {
  readonly service: string;
  readonly number: string;
}

export interface SessionData {
  readonly id: string;
  readonly channel: string;
  readonly number: string | null;
  readonly status: string;
  /** A short word. */
  readonly reason: string;
}

export interface PostingData {
  readonly id: string;
  readonly units: number;
  readonly note: string | null;
}

export interface SignatureData {
  readonly name: string;
  readonly reason: string | null;
}

/** Never the key itself. */
export interface KeyData {
  readonly id: string;
  readonly name: string | null;
}

/** A type and what it says. */
export type TypedData<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData[K] };
}[T];

/** A change of the state of an account, before it has a number. */
export type NewEvent<T extends EventType = EventType> = TypedData<T> & {
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** An event as webhooks, the feed and `MessagingEvents` give it; the last without `id`, `sequence` and `previous`. */
export type MessagingEvent<T extends EventType = EventType> = {
  [K in T]: {
    readonly type: K;
    /** ISO 8601. */
    readonly timestamp: string;
    /** The account's id. */
    readonly account: string;
    readonly data: EventData[K];
  };
}[T];

/** An event as listeners, webhooks and the feed see it. */
export function toMessagingEvent({ type, accountId, at, data }: NewEvent): MessagingEvent {
  // Type and data stay together.
  return { type, timestamp: new Date(at).toISOString(), account: accountId, data } as MessagingEvent;
}

/** The events of one recipient's delivery. */
export const DELIVERY_EVENTS = PUBLISHED_STATUSES.map((status) => `message.${status}` as const);

/** The types that are not in `DELIVERY_EVENTS`. */
const OTHERS: Readonly<Record<Exclude<EventType, DeliveryEventType>, true>> = {
  'send.completed': true,
  'sms.received': true,
  'msgapp.received': true,
  'optout.added': true,
  'optout.removed': true,
  'otp.verified': true,
  'otp.locked': true,
  'otp.refused': true,
  'session.connected': true,
  'session.reconnecting': true,
  'session.logged_out': true,
  'session.replaced': true,
  'session.banned': true,
  'session.expired': true,
  'session.failed': true,
  'session.restricted': true,
  'session.notice': true,
  'balance.low': true,
  'balance.topped_up': true,
  'balance.adjusted': true,
  'signature.verified': true,
  'signature.rejected': true,
  'key.created': true,
  'key.rotated': true,
  'key.revoked': true,
  'endpoint.disabled': true,
};

/** All types of the log, in the order of the documents. `test.ping` and `endpoint.gap` go to one endpoint and are not logged. */
export const EVENT_TYPES = [...DELIVERY_EVENTS, ...Object.keys(OTHERS)] as readonly EventType[];
const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

export function isEventType(name: string): name is EventType {
  return KNOWN.has(name);
}
