import type { Endpoint } from '../endpoints/endpoint.js';
import type { EventText, EventViews } from '../event-view.js';
import type { Gap } from './http/call-request.js';

/** How many events are read at a time. It is a multiple of the length of a run in the log, so that few runs are read twice. */
const PAGE = 400;

/** Events that one call carries. */
export interface ReadEvents {
  readonly events: readonly EventText[];
  /** The sequence number up to which the endpoint wants no other events. */
  readonly upTo: number;
}

/** Reads the events of an endpoint in their order, and some of them ahead of its calls. */
export class EventReader {
  private buffer: EventText[] = [];
  private readTo: number;
  private mayBeMore = true;
  /** Counts the restarts. */
  private restarts = 0;
  /** When the first event of the buffer was read, by the clock's `elapsed`. */
  private since = 0;

  /**
   * @param position the reader begins after this sequence number
   * @param upTo the last sequence number. Undefined: the reader follows the log
   */
  constructor(
    private readonly views: EventViews,
    private position: number,
    private readonly upTo?: number,
  ) {
    this.readTo = position;
  }

  /** Whether all events were taken that the log had at the last look. */
  get isDrained(): boolean {
    return this.buffer.length === 0 && !this.mayBeMore;
  }

  /** Whether a whole batch has been read. */
  hasBatch({ batch }: Endpoint): boolean {
    return this.buffer.length >= batch.max;
  }

  /** Notes that there may be new events. */
  look(): void {
    this.mayBeMore = true;
  }

  /** Forgets events that were read and not taken, because the endpoint wants other types now. */
  restart(): void {
    this.buffer = [];
    this.readTo = this.position;
    this.mayBeMore = true;
    this.restarts++;
  }

  /**
   * Reads until there is a whole batch or the log has no more events. If the first part of the log was removed meanwhile, it goes
   * on after that part.
   * @returns the sequence numbers that are no longer kept
   */
  async read({ accountId, types, batch }: Endpoint, elapsed: number): Promise<Gap | undefined> {
    while (this.buffer.length < batch.max && this.mayBeMore) {
      this.mayBeMore = false;
      const { readTo: before, restarts } = this;
      const page = await this.views.texts({
        accountId,
        after: before,
        upTo: this.upTo,
        types: types ?? undefined,
        limit: PAGE,
      });
      if (this.restarts !== restarts) return undefined;
      if (page.earliest > before + 1) {
        this.mayBeMore = true;
        if (this.buffer.length > 0) return undefined;
        this.position = page.earliest - 1;
        this.readTo = this.position;
        return { from: before + 1, to: this.position };
      }
      if (this.buffer.length === 0) this.since = elapsed;
      this.buffer.push(...page.events);
      this.readTo = Math.max(before, page.nextAfter);
      this.mayBeMore = this.mayBeMore || this.readTo < Math.min(page.last, this.upTo ?? page.last);
    }
    return undefined;
  }

  /** Returns the milliseconds until a batch is complete. 0: it is complete now, also if it has no event. */
  waitOf({ batch }: Endpoint, elapsed: number): number {
    if (this.buffer.length === 0 || this.buffer.length >= batch.max) return 0;
    return Math.max(0, this.since + batch.waitMs - elapsed);
  }

  /** Takes the next events, together with the skipped numbers after them. Undefined if no event was read. */
  take({ batch }: Endpoint): ReadEvents | undefined {
    if (this.buffer.length === 0 && this.readTo === this.position) return undefined;
    const events = this.buffer.splice(0, batch.max);
    this.position = this.buffer.length > 0 ? (events.at(-1)?.sequence ?? this.position) : this.readTo;
    return { events, upTo: this.position };
  }
}
