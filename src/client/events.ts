import type { EventType, MessagingEvent } from '../events/event-types.js';
import type { Caller, CallOptions, StreamCallOptions } from './caller.js';
import { Listing } from './listing.js';

/** An event of the account's log. */
export type AccountEvent<T extends EventType = EventType> = MessagingEvent<T> & {
  /** The same in every repeat. */
  readonly id: string;
  /** Counts the account's events without gaps. */
  readonly sequence: number;
  /** The next lower number of the `types` that were asked for; null at the start. */
  readonly previous: number | null;
};

/** What only one endpoint is told. */
export interface EndpointEvent<T extends string, D> {
  readonly id: string;
  readonly type: T;
  readonly timestamp: string;
  readonly sequence: null;
  readonly previous: null;
  readonly account: string;
  readonly data: D;
}

/** What a webhook call tells. `endpoint.gap`: the numbers that are no longer kept and were never told. */
export type WebhookEvent =
  | AccountEvent
  | EndpointEvent<'test.ping', { readonly endpoint: string }>
  | EndpointEvent<'endpoint.gap', { readonly from: number; readonly to: number }>;

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

/** A part of the log. */
export interface EventsPage<T extends EventType = EventType> {
  readonly items: readonly AccountEvent<T>[];
  /** The `after` of the next page: behind what `types` leaves out, too. */
  readonly next_after: number;
  /** The number of the newest event. */
  readonly last: number;
}

/** A type of event, with the JSON Schema (draft 2020-12) of a whole event. */
export interface EventTypeView {
  readonly type: WebhookEvent['type'];
  readonly description: string;
  readonly schema: object;
}

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
  types(options?: CallOptions): Promise<{ readonly items: readonly EventTypeView[] }> {
    return this.#caller.json({ path: ['webhooks', 'types'] }, options);
  }
}
