import type { EndpointEvent, EventType, EventView } from '../events/event-types.js';
import type { EventFeedPage, EventTypes } from '../webhooks/feed/feed.api.js';
import type { Caller, CallOptions, StreamCallOptions } from './caller.js';
import { Listing } from './listing.js';

/** An event of the account's log. */
export type AccountEvent<T extends EventType = EventType> = EventView<T>;

/** What a webhook call says. `endpoint.gap` names the sequences that are no longer kept and were never sent. */
export type WebhookEvent = AccountEvent | EndpointEvent;

/** Which events to read. */
export interface EventsQuery<T extends EventType = EventType> {
  /** Only events with a higher number. Default: from the earliest that is kept. */
  readonly after?: number | undefined;
  readonly types?: readonly T[] | undefined;
}

/** How many events to read at a time. */
export interface EventsPageQuery<T extends EventType = EventType> extends EventsQuery<T> {
  /** 1 to 500. */
  readonly limit?: number | undefined;
  /** Seconds to wait for the first, 0 to 25. */
  readonly wait?: number | undefined;
}

/** A part of the log. The `after` of the next page, `next_after`, is behind what `types` leaves out, too. */
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
   * The events up to now: `for await` ends at the newest, `page` asks for one page behind a number.
   * @throws MessagingApiError 410 with `earliest` when `after` is older than what is kept
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
   * The events from now on, behind `after` first. It does not end by itself: a broken connection is opened anew where it stood,
   * `break` or the signal leaves it.
   *
   * @throws MessagingApiError 410 with `earliest` when `after` is older than what is kept
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

  /** Every type, with its schema. */
  types(options?: CallOptions): Promise<EventTypes> {
    return this.#caller.json({ path: ['webhooks', 'types'] }, options);
  }
}
