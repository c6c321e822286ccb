import { createHash } from 'node:crypto';
import type { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import type { IdGenerator } from '../common/ids.js';
import type { LinkCode, LinkNews } from './link-news.js';
import { QrPoster } from './qr-poster.js';

/** 192 bits. */
const TOKEN_BYTES = 24;

/**
 * Shows the codes of sessions that wait to be linked to whoever has their token. A token is random, for one session, and
 * worth nothing when that is connected or over; only its hash is kept.
 */
export class QrBoard {
  private readonly posters = new Map<string, QrPoster>();
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
    this.posters.set(hash, new QrPoster(this.clock, { kind: 'status', sessionId, status: 'created' }));
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

  private posterOf(sessionId: string): QrPoster | undefined {
    return this.posters.get(this.hashes.get(sessionId) ?? '');
  }

  private find(token: string): QrPoster {
    const poster = this.posters.get(hashOf(token));
    if (!poster) throw new MessagingError('error.qr_not_found');
    return poster;
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
