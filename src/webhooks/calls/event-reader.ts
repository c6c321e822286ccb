import type { Endpoint } from '../endpoints/endpoint.js';
import type { EventText, EventViews } from '../event-view.js';
import type { Gap } from './http/call-request.js';

/** The most events that are read at a time: a multiple of a run of the log, so that few runs are read twice. */
const PAGE = 400;

/** Events that one call carries. */
export interface ReadEvents {
  readonly events: readonly EventText[];
  /** Up to which number nothing else is to be told. */
  readonly upTo: number;
}

/** Reads the events of an endpoint in their order, some ahead of its calls. */
export class EventReader {
  private buffer: EventText[] = [];
  private readTo: number;
  private mayBeMore = true;
  /** Counts the restarts. */
  private restarts = 0;
  /** When the first event of the buffer was read, by the clock's `elapsed`. */
  private since = 0;

  /**
   * @param position the number behind which it begins
   * @param upTo the number with which it ends; undefined: it goes on with the log
   */
  constructor(
    private readonly views: EventViews,
    private position: number,
    private readonly upTo?: number,
  ) {
    this.readTo = position;
  }

  /** Whether everything was taken that was there when it last looked. */
  get isDrained(): boolean {
    return this.buffer.length === 0 && !this.mayBeMore;
  }

  /** Whether a whole batch has been read. */
  hasBatch({ batch }: Endpoint): boolean {
    return this.buffer.length >= batch.max;
  }

  /** There may be new events. */
  look(): void {
    this.mayBeMore = true;
  }

  /** Forgets what was read and not taken, because other types are asked for. */
  restart(): void {
    this.buffer = [];
    this.readTo = this.position;
    this.mayBeMore = true;
    this.restarts++;
  }

  /**
   * Reads on until there is a whole batch, or nothing more. Where the log has been cut meanwhile it goes on behind the cut.
   * @returns the numbers that are not kept
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

  /** Milliseconds until a batch is complete; 0: now, also without any event. */
  waitOf({ batch }: Endpoint, elapsed: number): number {
    if (this.buffer.length === 0 || this.buffer.length >= batch.max) return 0;
    return Math.max(0, this.since + batch.waitMs - elapsed);
  }

  /** Takes the next events, and what is passed over behind them; undefined: nothing was read. */
  take({ batch }: Endpoint): ReadEvents | undefined {
    if (this.buffer.length === 0 && this.readTo === this.position) return undefined;
    const events = this.buffer.splice(0, batch.max);
    this.position = this.buffer.length > 0 ? (events.at(-1)?.sequence ?? this.position) : this.readTo;
    return { events, upTo: this.position };
  }
}
