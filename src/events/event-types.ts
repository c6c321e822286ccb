import { PUBLISHED_STATUSES } from './delivery-status.js';
import { ENDPOINT_EVENTS, EVENTS, type EventDescription, type EventHead } from './events.api.js';

type Described = typeof EVENTS;

/** The name of a type of event. */
export type EventType = keyof Described;

/** What each type of event says, as webhooks and the feed give it. Moments are ISO 8601, amounts are units. */
export type EventData = { [K in EventType]: Described[K] extends EventDescription<infer D> ? D : never };

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

/** An event as `MessagingEvents` gives it. */
export type MessagingEvent<T extends EventType = EventType> = {
  [K in T]: Pick<EventHead, 'timestamp' | 'account'> & { readonly type: K; readonly data: EventData[K] };
}[T];

/** An event of the log as the feed, the stream and webhooks give it. */
export type EventView<T extends EventType = EventType> = {
  [K in T]: EventHead & { readonly type: K; readonly data: EventData[K] };
}[T];

/** An event that is in no log. It goes to one endpoint. */
export type EndpointEvent<T extends keyof typeof ENDPOINT_EVENTS = keyof typeof ENDPOINT_EVENTS> = {
  [K in T]: Omit<EventHead, 'sequence' | 'previous'> & {
    readonly type: K;
    readonly sequence: null;
    readonly previous: null;
    readonly data: (typeof ENDPOINT_EVENTS)[K] extends EventDescription<infer D> ? D : never;
  };
}[T];

/** An event as listeners, webhooks and the feed see it. */
export function toMessagingEvent({ type, accountId, at, data }: NewEvent): MessagingEvent {
  // Type and data stay together.
  return { type, timestamp: new Date(at).toISOString(), account: accountId, data } as MessagingEvent;
}

/** The events of one recipient's delivery. */
export const DELIVERY_EVENTS = PUBLISHED_STATUSES.map((status) => `message.${status}` as const);

/** All types of the log, in the order of the documents. `test.ping` and `endpoint.gap` go to one endpoint and are not logged. */
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];

/** The types of events that go to one endpoint, in the order of the documents. */
export const ENDPOINT_EVENT_TYPES = Object.keys(ENDPOINT_EVENTS) as readonly EndpointEvent['type'][];

export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENTS, name);
}
