import { PUBLISHED_STATUSES } from './delivery-status.js';
import {
  ENDPOINT_EVENTS,
  type EndpointEventHead,
  EVENTS,
  type EventDescription,
  type EventHead,
} from './events.api.js';

type Described = typeof EVENTS;

/** The name of a type of event. */
export type EventType = keyof Described;

/** The data of each type of event, as webhooks and the feed return it. Times are ISO 8601, amounts are units. */
export type EventData = { [K in EventType]: Described[K] extends EventDescription<infer D> ? D : never };

/** A type of event with its data. */
export type TypedData<T extends EventType = EventType> = {
  [K in T]: { readonly type: K; readonly data: EventData[K] };
}[T];

/** An event of an account before it has a number. */
export type NewEvent<T extends EventType = EventType> = TypedData<T> & {
  readonly accountId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

/** An event as the listeners of `MessagingEvents` receive it. */
export type MessagingEvent<T extends EventType = EventType> = {
  [K in T]: Pick<EventHead, 'timestamp' | 'account'> & { readonly type: K; readonly data: EventData[K] };
}[T];

/** An event of the log as the feed, the stream and webhooks return it. */
export type EventView<T extends EventType = EventType> = {
  [K in T]: EventHead & { readonly type: K; readonly data: EventData[K] };
}[T];

/** An event that is in no log. It goes to one endpoint. */
export type EndpointEvent<T extends keyof typeof ENDPOINT_EVENTS = keyof typeof ENDPOINT_EVENTS> = {
  [K in T]: EndpointEventHead & {
    readonly type: K;
    readonly data: (typeof ENDPOINT_EVENTS)[K] extends EventDescription<infer D> ? D : never;
  };
}[T];

/** Makes the event that listeners, webhooks and the feed receive. */
export function toMessagingEvent({ type, accountId, at, data }: NewEvent): MessagingEvent {
  // The cast is safe, because type and data come from the same event.
  return { type, timestamp: new Date(at).toISOString(), account: accountId, data } as MessagingEvent;
}

/** The events of one recipient's delivery. */
export const DELIVERY_EVENTS = PUBLISHED_STATUSES.map((status) => `message.${status}` as const);

/**
 * All types of the log, in the order in which documents list them. `test.ping` and `endpoint.gap` go to one endpoint
 * and are not logged.
 */
export const EVENT_TYPES = Object.keys(EVENTS) as readonly EventType[];

/** The types of events that go to one endpoint, in the order in which documents list them. */
export const ENDPOINT_EVENT_TYPES = Object.keys(ENDPOINT_EVENTS) as readonly EndpointEvent['type'][];

/** Whether a name is the type of an event of an account. */
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(EVENTS, name);
}
