import { createHash } from 'node:crypto';
import type { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import type { SessionStatus } from '../../events/session-status.js';
import { Inbox } from './inbox.js';

/** The length of a token: 192 bits. */
const TOKEN_BYTES = 24;

/**
 * Shows the codes of sessions that wait to be linked to clients that present the session's token. A token is random and belongs
 * to one session. It becomes invalid when the session is connected or over. Only its hash is stored.
 */
export class QrSubscriptions {
  private readonly posters = new Map<string, QrStream>();
  /** The hash of the token, by session. */
  private readonly hashes = new Map<string, string>();

  constructor(
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Registers a session. Returns the token that gives access to its codes. */
  add(sessionId: string): string {
    const token = this.ids.bytes(TOKEN_BYTES).toString('base64url');
    const hash = hashOf(token);
    this.hashes.set(sessionId, hash);
    this.posters.set(hash, new QrStream(this.clock, { kind: 'status', sessionId, status: 'created' }));
    return token;
  }

  /** Shows a session's code, or that it has none at the moment. */
  show(sessionId: string, code: LinkCode | undefined): void {
    this.posterOf(sessionId)?.show(code);
  }

  /** Sends a status to the readers of its session. */
  report(news: LinkNews & { readonly kind: 'status' }): void {
    this.posterOf(news.sessionId)?.report(news);
  }

  /** Invalidates the session's token. */
  remove(sessionId: string): void {
    const hash = this.hashes.get(sessionId);
    if (hash === undefined) return;
    this.posters.get(hash)?.close();
    this.posters.delete(hash);
    this.hashes.delete(sessionId);
  }

  /**
   * Reads a session's news.
   * @throws MessagingError `error.qr_not_found` for a token that is unknown or invalid
   */
  read(token: string, signal: AbortSignal): AsyncGenerator<LinkNews, void> {
    return this.find(token).read(signal);
  }

  /**
   * Returns the current code. If there is none, it waits for up to `waitMs` milliseconds and then returns undefined.
   *
   * @throws MessagingError `error.qr_not_found` for a token that is unknown, or invalid now or by the end of the wait
   */
  async current(token: string, waitMs: number, signal: AbortSignal): Promise<LinkCode | undefined> {
    const poster = this.find(token);
    if (poster.code) return poster.code;
    const timeout = new AbortController();
    const cancel = this.clock.after(waitMs, () => timeout.abort());
    try {
      for await (const news of poster.read(AbortSignal.any([signal, timeout.signal]))) {
        if (news.kind === 'qr') return news;
      }
    } finally {
      cancel();
    }
    this.find(token);
    return undefined;
  }

  private posterOf(sessionId: string): QrStream | undefined {
    return this.posters.get(this.hashes.get(sessionId) ?? '');
  }

  private find(token: string): QrStream {
    const poster = this.posters.get(hashOf(token));
    if (!poster) throw new MessagingError('error.qr_not_found');
    return poster;
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** How many readers may read at the same time. Each reader costs a connection, and a picture of each code. */
const MAX_READERS = 20;

/** The events of one session that waits to be linked. */
export class QrStream {
  private readonly readers = new Set<Inbox<LinkNews>>();
  private shown: LinkCode | undefined;
  /** When the code expires, on the clock's `elapsed`. */
  private shownUntil = 0;
  private over = false;

  /** @param status the first event for readers who come later */
  constructor(
    private readonly clock: Clock,
    private status: LinkNews,
  ) {}

  /** The code that can be scanned now. */
  get code(): LinkCode | undefined {
    return this.clock.elapsed() < this.shownUntil ? this.shown : undefined;
  }

  /** Replaces the code. Undefined: there is none at the moment. */
  show(code: LinkCode | undefined): void {
    this.shown = code;
    if (!code) return;
    this.shownUntil = this.clock.elapsed() + code.expiresAt - this.clock.now();
    this.pass({ kind: 'qr', ...code });
  }

  report(status: LinkNews): void {
    this.status = status;
    this.pass(status);
  }

  /** Ends the stream: no news will follow. */
  close(): void {
    this.shown = undefined;
    this.over = true;
    for (const reader of this.readers) reader.nudge();
  }

  /**
   * Reads the current state, then each change. It ends when the stream is closed or `signal` is aborted. If there are more than
   * twenty readers, the reader that has read longest is ended.
   */
  read(signal: AbortSignal): AsyncGenerator<LinkNews, void> {
    const reader = new Inbox<LinkNews>(this.clock);
    reader.put(this.status);
    if (this.code) reader.put({ kind: 'qr', ...this.code });
    this.readers.add(reader);
    if (this.readers.size > MAX_READERS) this.dropOldest();
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

/** A code to scan. Scanning it gives the session control of the scanning account: never log or store it. */
export interface LinkCode {
  readonly qr: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** An event for clients that wait for a session to be linked. */
export type LinkNews =
  | ({ readonly kind: 'qr' } & LinkCode)
  | {
      readonly kind: 'status';
      readonly sessionId: string;
      readonly status: SessionStatus;
      /** E.164 digits without the plus sign. */
      readonly number?: string;
      readonly reason?: string;
    };
