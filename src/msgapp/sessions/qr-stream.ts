import { createHash } from 'node:crypto';
import type { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import type { IdGenerator } from '../../common/ids.js';
import { Inbox } from './inbox.js';
import type { SessionStatus } from './session-store.js';

/** 192 bits. */
const TOKEN_BYTES = 24;

/**
 * Shows the codes of sessions that wait to be linked to whoever has their token. A token is random, for one session, and
 * worth nothing when that is connected or over; only its hash is kept.
 */
export class QrSubscriptions {
  private readonly posters = new Map<string, QrStream>();
  /** Hash of the token by session. */
  private readonly hashes = new Map<string, string>();

  constructor(
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /** Makes a place for a session; answers the token that opens it. */
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

  /** Tells those who wait for a session. */
  tell(news: LinkNews & { readonly kind: 'status' }): void {
    this.posterOf(news.sessionId)?.tell(news);
  }

  /** The session's token is worth nothing from now on. */
  remove(sessionId: string): void {
    const hash = this.hashes.get(sessionId);
    if (hash === undefined) return;
    this.posters.get(hash)?.close();
    this.posters.delete(hash);
    this.hashes.delete(sessionId);
  }

  /** @throws MessagingError `error.qr_not_found` for a token that is unknown or spent */
  read(token: string, signal: AbortSignal): AsyncGenerator<LinkNews, void> {
    return this.find(token).read(signal);
  }

  /**
   * The code that can be scanned now; waits for one for up to `waitMs`, then undefined.
   * @throws MessagingError `error.qr_not_found` for a token that is unknown or spent, also when that happens meanwhile
   */
  async current(token: string, waitMs: number, signal: AbortSignal): Promise<LinkCode | undefined> {
    const poster = this.find(token);
    if (poster.code) return poster.code;
    const patience = new AbortController();
    const cancel = this.clock.after(waitMs, () => patience.abort());
    try {
      for await (const news of poster.read(AbortSignal.any([signal, patience.signal]))) {
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

/** Readers at a time: each costs a connection, and a picture of each code. */
const MOST_READERS = 20;

/** What those who wait for one session to be linked get to see. */
export class QrStream {
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

/** A code to scan. It is as good as a key to the account of whoever scans it: never to be logged or kept. */
export interface LinkCode {
  readonly qr: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What somebody who waits for a session to be linked is told. */
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
