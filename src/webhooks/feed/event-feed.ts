import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, type StreamableFile } from '@nestjs/common';
import type { AdmittedCall } from '../../accounts/admitted-call.decorator.js';
import { type Caller, countedAs } from '../../accounts/keys/authenticator.js';
import { TextAccess } from '../../accounts/text-access.js';
import { Clock } from '../../common/clock.js';
import { pause, retryWhileUnavailable } from '../../common/concurrency/async.js';
import { MessagingError } from '../../common/errors.js';
import type { EventType, EventView } from '../../events/event-types.js';
import { type AdapterResponse, EventStreams, HEARTBEAT_MS, RECONNECT_MS } from '../../http/event-streams.js';
import { HttpSettings } from '../../http/http-options.js';
import { eventTypesOf } from '../event-filter.js';
import { CallerWatch } from './caller-watch.js';
import { type EventArrival, EventArrivals } from './event-arrivals.js';
import { type EventCursor, EventCursors } from './event-cursor.js';
import { EventService, PAGE_SIZE, POLL_MS } from './event-service.js';
import { type EventsQuery, MAX_SEQUENCE, type StreamQuery } from './events.dto.js';
import type { EventFeedPage } from './feed.api.js';
import { ReaderSeats } from './reader-seats.js';

/** A request to read events. */
interface FeedRequest<Q> {
  readonly caller: Caller;
  readonly call: AdmittedCall;
  readonly headers: IncomingHttpHeaders;
  readonly query: Q;
}

/** A request for one page, which may wait. */
interface PageRequest extends FeedRequest<EventsQuery> {
  /** When the request arrived, by the clock's `elapsed`. Undefined: now. */
  readonly arrivedAt?: number | undefined;
}

/** How long before its deadline a waiting request stops waiting, in milliseconds. */
const MARGIN_MS = 2_000;

/**
 * A waiting request looks once more when its wait ends. After so many milliseconds it is answered without that look. Less than
 * the margin.
 */
const LAST_LOOK_MS = 1_000;

/** Answers `GET /events` and `GET /events/stream`. */
@Injectable()
export class EventFeed {
  constructor(
    private readonly events: EventService,
    private readonly cursors: EventCursors,
    private readonly arrivals: EventArrivals,
    private readonly seats: ReaderSeats,
    private readonly watch: CallerWatch,
    private readonly streams: EventStreams,
    private readonly settings: HttpSettings,
    private readonly clock: Clock,
    private readonly texts: TextAccess,
  ) {}

  /**
   * Returns a page of events. A request that waits takes a seat, and its wait counts from its arrival.
   * @throws MessagingError `error.event_type_unknown`, `error.events_gone`, `error.too_many_event_readers`
   */
  async page(request: PageRequest, gone: AbortSignal): Promise<EventFeedPage> {
    return this.texts.many(request.caller, await this.wholePage(request, gone));
  }

  private async wholePage(
    { caller, call, query: { after, limit, wait = 0, ...query }, arrivedAt = this.clock.elapsed() }: PageRequest,
    gone: AbortSignal,
  ): Promise<EventFeedPage> {
    const types = typesOf(query.types);
    const end = arrivedAt + Math.min(wait * 1000, this.settings.requestMs - MARGIN_MS);
    const page = await this.events.read(caller.accountId, { after, limit, types });
    const waitMs = end - this.clock.elapsed();
    if (page.items.length > 0 || waitMs <= 0) return page;
    const leave = this.seats.enter(countedAs(caller));
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, gone]);
    try {
      this.watch.watch(caller, call, signal, () => over.abort());
      const rest = { after: page.next_after, limit, types, wait: waitMs / 1000, signal };
      // The storage may be busy at the last look. Without that look the page is still correct, because the next poll reads on
      // from the same place.
      const late = pause(this.clock, waitMs + LAST_LOOK_MS, over.signal).then(() => page);
      return await Promise.race([this.events.read(caller.accountId, rest), late]);
    } finally {
      over.abort();
      leave();
    }
  }

  /**
   * Returns the stream of events. The ids of its messages are the sequences of the events.
   * @throws MessagingError the errors of `page`, before the stream begins
   */
  async stream(
    { caller, call, headers, query }: FeedRequest<StreamQuery>,
    response: AdapterResponse,
  ): Promise<StreamableFile> {
    const { accountId } = caller;
    const cursor = this.cursors.open(accountId, lastEventId(headers) ?? query.after, typesOf(query.types));
    const leave = this.seats.enter(countedAs(caller));
    const arrival = this.arrivals.of(accountId);
    const close = () => {
      arrival.close();
      leave();
    };
    try {
      const first = await cursor.next(PAGE_SIZE);
      return this.streams.text(response, ({ signal, end }) => {
        signal.addEventListener('abort', close, { once: true });
        this.watch.watch(caller, call, signal, end);
        return this.text(caller, cursor, first, arrival, signal);
      });
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Returns one text for each page. The next page is read when the client has taken the text before it. */
  private async *text(
    caller: Caller,
    cursor: EventCursor,
    first: readonly EventView[],
    arrival: EventArrival,
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    yield `: open\nretry: ${RECONNECT_MS}\n\n`;
    const patience = { clock: this.clock, until: Number.POSITIVE_INFINITY, signal };
    let saidAt = this.clock.elapsed();
    for (let events = first; !signal.aborted; ) {
      const text = events.map((event) => frame(this.texts.many(caller, event))).join('');
      const isQuiet = this.clock.elapsed() - saidAt >= HEARTBEAT_MS;
      if (text !== '' || isQuiet) {
        // An id without data moves the client's place past events of other types.
        yield text === '' ? `: heartbeat\nid: ${cursor.position}\n\n` : text;
        saidAt = this.clock.elapsed();
      }
      if (!cursor.isBehind) await arrival.next(POLL_MS, signal);
      if (signal.aborted) return;
      const next = await retryWhileUnavailable(patience, () => cursor.next(PAGE_SIZE)).catch(endOfStream);
      if (next === undefined) return;
      events = next;
    }
  }
}

/**
 * Ends a stream at an error of the log or the storage. The client connects again and gets the error then. An unavailable storage
 * during the shutdown is ignored.
 */
function endOfStream(error: unknown): undefined {
  if (!(error instanceof MessagingError)) throw error;
}

function frame(event: EventView): string {
  return `id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Returns the types of a query, which has names with commas between them. Undefined: all types. */
function typesOf(names: string | undefined): readonly EventType[] | undefined {
  return names ? eventTypesOf(names.split(',')) : undefined;
}

/** @throws MessagingError `error.field_not_integer` */
function lastEventId({ 'last-event-id': id }: IncomingHttpHeaders): number | undefined {
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id);
  throw new MessagingError('error.field_not_integer', { field: 'Last-Event-ID', min: 0, max: MAX_SEQUENCE });
}
