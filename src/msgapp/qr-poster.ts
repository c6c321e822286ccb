import type { Clock } from '../common/clock.js';
import { Inbox } from './inbox.js';
import type { LinkCode, LinkNews } from './link-news.js';

/** Readers at a time: each costs a connection, and a picture of each code. */
const MOST_READERS = 20;

/** What those who wait for one session to be linked get to see. */
export class QrPoster {
  private readonly readers = new Set<Inbox<LinkNews>>();
  private shown: LinkCode | undefined;
  /** How long that can be scanned, by the clock's `elapsed`. */
  private shownUntil = 0;
  private over = false;

  /** @param status the news that a reader who comes later starts with */
  constructor(
    private readonly clock: Clock,
    private status: LinkNews,
  ) {}

  /** The code that can be scanned now. */
  get code(): LinkCode | undefined {
    return this.clock.elapsed() < this.shownUntil ? this.shown : undefined;
  }

  /** Shows a code in the place of the one before; undefined: there is none at the moment. */
  show(code: LinkCode | undefined): void {
    this.shown = code;
    if (!code) return;
    this.shownUntil = this.clock.elapsed() + code.expiresAt - this.clock.now();
    this.pass({ kind: 'qr', ...code });
  }

  tell(status: LinkNews): void {
    this.status = status;
    this.pass(status);
  }

  /** There will be no more news. */
  close(): void {
    this.shown = undefined;
    this.over = true;
    for (const reader of this.readers) reader.nudge();
  }

  /**
   * The present state, then each change; ends when the poster is closed or `signal` is aborted, and for the one that has
   * read longest when there are more than twenty.
   */
  read(signal: AbortSignal): AsyncGenerator<LinkNews, void> {
    const reader = new Inbox<LinkNews>(this.clock);
    reader.put(this.status);
    if (this.code) reader.put({ kind: 'qr', ...this.code });
    this.readers.add(reader);
    if (this.readers.size > MOST_READERS) this.dropOldest();
    const leave = () => {
      this.readers.delete(reader);
      reader.nudge();
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    return this.deliver(reader, signal, leave);
  }

  private async *deliver(
    reader: Inbox<LinkNews>,
    signal: AbortSignal,
    leave: () => void,
  ): AsyncGenerator<LinkNews, void> {
    try {
      while (this.readers.has(reader)) {
        const news = await reader.next(this.over ? 0 : Number.POSITIVE_INFINITY);
        if (news) yield news;
        else if (this.over) return;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  private dropOldest(): void {
    const [oldest] = this.readers;
    if (!oldest) return;
    this.readers.delete(oldest);
    oldest.nudge();
  }

  private pass(news: LinkNews): void {
    for (const reader of this.readers) reader.put(news);
  }
}
