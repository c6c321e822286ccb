import type { EndpointEvent, EventType, EventView } from '../events/event-types.js';
import type { EventFeedPage, EventTypes } from '../webhooks/feed/feed.api.js';
import type { Caller, CallOptions, StreamCallOptions } from './caller.js';
import { Listing } from './listing.js';

/** An event of the account's log. */
export type AccountEvent<T extends EventType = EventType> = EventView<T>;

/** An event in a webhook call. `endpoint.gap` names the sequence numbers that are no longer kept and were never sent. */
export type WebhookEvent = AccountEvent | EndpointEvent;

/** Which events to read. */
export interface EventsQuery<T extends EventType = EventType> {
  /** Only events with a higher sequence number. Default: all events from the earliest that is kept. */
  readonly after?: number | undefined;
  readonly types?: readonly T[] | undefined;
}

/** How many events to read at a time. */
export interface EventsPageQuery<T extends EventType = EventType> extends EventsQuery<T> {
  /** 1 to 500. */
  readonly limit?: number | undefined;
  /** How many seconds to wait for the first event, 0 to 25. */
  readonly wait?: number | undefined;
}

/** A part of the log. `next_after` is the `after` of the next page. It also passes over the events that `types` leaves out. */
export type EventsPage<T extends EventType = EventType> = Omit<EventFeedPage, 'items'> & {
  readonly items: readonly AccountEvent<T>[];
};

/** The log of events. */
export class EventRoutes {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Lists the events up to now. `for await` ends at the newest event. `page` asks for one page after a sequence number.
   *
   * @throws MessagingApiError 410 with `earliest` if `after` is older than the log
   */
  list<T extends EventType = EventType>(
    { after, ...query }: EventsPageQuery<T> = {},
    options?: CallOptions,
  ): Listing<AccountEvent<T>, EventsPage<T>, number> {
    return new Listing<AccountEvent<T>, EventsPage<T>, number>(
      (cursor = after) => this.#caller.json({ path: ['events'], query: { after: cursor, ...query } }, options),
      ({ next_after, last }) => (next_after < last ? next_after : null),
    );
  }

  /**
   * Returns the events after `after`, and then the events as they happen. It does not end by itself. If the connection breaks,
   * the client opens it again after the last event. Use `break` or the signal to leave.
   *
   * @throws MessagingApiError 410 with `earliest` if `after` is older than the log
   */
  async *stream<T extends EventType = EventType>({
    signal,
    onState,
    ...query
  }: EventsQuery<T> & StreamCallOptions = {}): AsyncGenerator<AccountEvent<T>, void> {
    for await (const { data } of this.#caller.events({ path: ['events', 'stream'], query }, { signal, onState })) {
      yield JSON.parse(data);
    }
  }

  /** Lists every event type with its schema. */
  types(options?: CallOptions): Promise<EventTypes> {
    return this.#caller.json({ path: ['webhooks', 'types'] }, options);
  }
}
