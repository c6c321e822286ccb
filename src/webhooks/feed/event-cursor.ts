import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/clock.js';
import { atMost } from '../../common/concurrency/at-most.js';
import { MessagingError } from '../../common/errors.js';
import { checkAccountId } from '../../common/inputs.js';
import { MINUTE_MS } from '../../common/time.js';
import { EventLog } from '../../events/event-log.js';
import type { EventType, EventView } from '../../events/event-types.js';
import { EventViews } from '../event-view.js';

/** How often a read is recorded as a use of the log, in milliseconds. */
const USE_MS = MINUTE_MS;
/** For how many accounts the last use is remembered. For other accounts more reads are recorded. */
const USES = 10_000;

/** Opens logs for reading. A log that is read stays switched on. */
@Injectable()
export class EventCursors {
  /** When a use of the log was last recorded, by the clock's `elapsed`. */
  private readonly usedAt = new LRUCache<string, number>(atMost(USES));

  constructor(
    private readonly views: EventViews,
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  /**
   * @param after the first event has a higher sequence number. Undefined: it is the earliest event that is kept
   * @throws MessagingError `error.account_not_found` for an id that no account can have
   */
  open(accountId: string, after: number | undefined, types: readonly EventType[] | undefined): EventCursor {
    checkAccountId(accountId);
    return new EventCursor(this, accountId, after, types);
  }

  /** Reads a page for a cursor. */
  async read(cursor: EventCursor, limit: number) {
    const { accountId, types, position = 0 } = cursor;
    await this.use(accountId);
    const query = { accountId, types, after: position, limit };
    const page = await this.views.read(query);
    if (page.recording) return page;
    // The log was switched off after the last use was recorded.
    this.usedAt.delete(accountId);
    await this.use(accountId);
    return this.views.read(query);
  }

  private async use(accountId: string): Promise<void> {
    const usedAt = this.usedAt.get(accountId);
    const now = this.clock.elapsed();
    if (usedAt !== undefined && now - usedAt < USE_MS) return;
    await this.log.switchOn(accountId, this.clock.now());
    this.usedAt.set(accountId, now);
  }
}

/** A reader's place in the log of an account. */
export class EventCursor {
  private last = 0;

  constructor(
    private readonly cursors: EventCursors,
    readonly accountId: string,
    private at: number | undefined,
    readonly types: readonly EventType[] | undefined,
  ) {}

  /** The sequence number up to which all events have been read. Undefined before the first page. */
  get position(): number | undefined {
    return this.at;
  }

  /** The sequence number of the last event in the log, at the time of the last page. */
  get lastSequence(): number {
    return this.last;
  }

  /** Whether the log has events after the last page. */
  get isBehind(): boolean {
    return this.at === undefined || this.at < this.last;
  }

  /**
   * Returns the next events, at most `limit`. There may be fewer or none, even if more follow.
   *
   * @throws MessagingError `error.events_gone` if events after this place are no longer kept. `error.events_ahead` if the log
   * ends before this place, as after a restore. `error.account_not_found`
   * @throws StorageUnavailableError
   */
  async next(limit: number): Promise<readonly EventView[]> {
    const { events, nextAfter, last, earliest } = await this.cursors.read(this, limit);
    if (this.at !== undefined && this.at < earliest - 1) throw new MessagingError('error.events_gone', { earliest });
    if (this.at !== undefined && this.at > last) throw new MessagingError('error.events_ahead', { last, earliest });
    this.at = Math.max(nextAfter, earliest - 1);
    this.last = last;
    return events;
  }
}
