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

/** How often a read is noted as a use of the log, in milliseconds. */
const USE_MS = MINUTE_MS;
/** How many accounts' last uses are remembered; of the others more reads are noted. */
const USES = 10_000;

/** Opens logs for reading, and keeps those that are read switched on. */
@Injectable()
export class EventCursors {
  /** When a use of the log was noted last, by the clock's `elapsed`. */
  private readonly usedAt = new LRUCache<string, number>(atMost(USES));

  constructor(
    private readonly views: EventViews,
    private readonly log: EventLog,
    private readonly clock: Clock,
  ) {}

  /**
   * @param after the first event has a higher number; undefined: it is the earliest that is kept
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
    // Somebody has switched it off since the last use was noted.
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

  /** Up to which number everything has been read; undefined before the first page. */
  get position(): number | undefined {
    return this.at;
  }

  /** The number of the last event of the log, as of the last page. */
  get lastSequence(): number {
    return this.last;
  }

  /** Whether the last page has not reached the end of the log. */
  get isBehind(): boolean {
    return this.at === undefined || this.at < this.last;
  }

  /**
   * The next events, at most `limit`; there may be fewer, also none, although more follow.
   *
   * @throws MessagingError `error.events_gone` when events after this place are no longer kept, `error.events_ahead` when the log
   *   ends before this place, as after a restore; `error.account_not_found`
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
