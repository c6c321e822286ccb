import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { checkAccountId, checkLimit } from '../../common/inputs.js';
import { checkCallOptions } from '../../common/options.js';
import { EventLog } from '../../events/event-log.js';
import type { EventType, EventView } from '../../events/event-types.js';
import { eventTypesOf } from '../event-filter.js';
import { EventArrivals } from './event-arrivals.js';
import { EventCursors } from './event-cursor.js';
import type { EventFeedPage } from './feed.api.js';

/** The place from which events are read, and the types to read. */
export interface EventPlace {
  /** Only events with a higher sequence. Default: all events from the earliest that is kept. */
  readonly after?: number | undefined;
  /** Only events of these types. Default: all. */
  readonly types?: readonly EventType[] | undefined;
  /** Ends the wait for events. */
  readonly signal?: AbortSignal | undefined;
}

/** A request for one page of events. */
export interface EventPageRequest extends EventPlace {
  /** How many events the page has at most, 1 to 1000. Default 100. */
  readonly limit?: number | undefined;
  /** How many seconds to wait for an event if there is none. Default 0. */
  readonly wait?: number | undefined;
}

/** How often waiting readers look by themselves, in milliseconds, because a notice of another process may be lost. */
export const POLL_MS = 1000;
/** How many events are read at a time by default. */
export const PAGE_SIZE = 100;

const NEVER = new AbortController().signal;

/**
 * Reads the logs of accounts, also for hosts that do not use our routes. Every read is a use, which keeps the log switched on.
 */
@Injectable()
export class EventService {
  constructor(
    private readonly cursors: EventCursors,
    private readonly arrivals: EventArrivals,
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  /**
   * Switches on the recording of the account's events. After seven days without an endpoint or a reader it is switched off again.
   * @throws StorageUnavailableError
   */
  async switchOn(accountId: string): Promise<void> {
    checkAccountId(accountId);
    await this.log.switchOn(accountId, this.clock.now());
  }

  /**
   * Reads a page of events. The first read of an account only switches recording on, so its page is empty.
   *
   * @throws MessagingError `error.events_gone` if events after `after` are no longer kept. Its value `earliest` is the first
   * number that is kept. `error.event_type_unknown`
   * @throws StorageUnavailableError
   */
  async read(accountId: string, options: EventPageRequest = {}): Promise<EventFeedPage> {
    const given = checkCallOptions('a read of events', options, 'after', 'types', 'limit', 'wait', 'signal');
    const { after, types, limit = PAGE_SIZE, wait = 0, signal = NEVER } = given;
    checkLimit(limit);
    const cursor = this.cursors.open(accountId, after, types && eventTypesOf(types));
    const end = this.clock.elapsed() + wait * 1000;
    const arrival = this.arrivals.of(accountId);
    try {
      for (;;) {
        const items = await cursor.next(limit);
        const leftMs = end - this.clock.elapsed();
        const goesOn = cursor.isBehind || (leftMs > 0 && !signal.aborted);
        if (items.length > 0 || !goesOn) {
          return { items, next_after: cursor.position ?? 0, last: cursor.lastSequence };
        }
        if (!cursor.isBehind) await arrival.next(Math.min(POLL_MS, leftMs), signal);
      }
    } finally {
      arrival.close();
    }
  }

  /**
   * Reads the events of an account as they come, until the signal is aborted. A slow reader uses only the memory of one page.
   *
   * @throws MessagingError `error.events_gone`, as for `read`
   * @throws StorageUnavailableError
   * @example
   * ```ts
   * for await (const event of events.listen(accountId, { after: seen, types: ['message.delivered'] })) {
   *   await orders.delivered(event.data.metadata?.order);
   *   await store(event.sequence);
   * }
   * ```
   */
  async *listen(accountId: string, options: EventPlace = {}): AsyncGenerator<EventView, void, undefined> {
    const given = checkCallOptions('a listener to events', options, 'after', 'types', 'signal');
    const { after, types, signal = NEVER } = given;
    const cursor = this.cursors.open(accountId, after, types && eventTypesOf(types));
    const arrival = this.arrivals.of(accountId);
    try {
      while (!signal.aborted) {
        yield* await cursor.next(PAGE_SIZE);
        if (!cursor.isBehind) await arrival.next(POLL_MS, signal);
      }
    } finally {
      arrival.close();
    }
  }
}
