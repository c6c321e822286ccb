import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable, Subscriber } from 'rxjs';
import { MessagingError } from '../../common/errors.js';
import { qrDataUrl, qrPng } from '../../common/text/qr-image.js';
import { type AdapterResponse, EventStreams } from '../../http/event-streams.js';
import type { LinkCodeView, LinkStatusView } from '../msgapp.api.js';
import type { LinkNews } from './qr-stream.js';
import { SessionManager } from './session-manager.js';

/** How long a request for a picture waits for the first code, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Shows the codes of a channel's sessions to clients that present their token. */
@Injectable()
export class QrCodes {
  constructor(
    private readonly sessions: SessionManager,
    private readonly streams: EventStreams,
  ) {}

  /**
   * Streams the events of a session until it is linked or over.
   *
   * @throws MessagingError `error.qr_not_found`
   */
  stream(qrToken: string, response: AdapterResponse): Observable<MessageEvent> {
    const left = new AbortController();
    const news = this.sessions.watch(qrToken, left.signal);
    return this.streams.stream(response, (client) => {
      void pass(news, client);
      return () => left.abort();
    });
  }

  /**
   * Returns the current code as PNG.
   * @throws MessagingError `error.qr_not_found`, also if no code appeared in time
   */
  async png(qrToken: string, signal: AbortSignal): Promise<Buffer> {
    const code = await this.sessions.currentQr(qrToken, PATIENCE_MS, signal);
    if (!code) throw new MessagingError('error.qr_not_found');
    return qrPng(code.qr);
  }
}

async function pass(news: AsyncIterable<LinkNews>, client: Subscriber<MessageEvent>): Promise<void> {
  try {
    for await (const each of news) client.next(await eventOf(each));
    client.complete();
  } catch (error) {
    client.error(error);
  }
}

async function eventOf(news: LinkNews): Promise<MessageEvent> {
  if (news.kind === 'qr') {
    const { qr, expiresAt } = news;
    const code: LinkCodeView = { qr, image: await qrDataUrl(qr), expires_at: new Date(expiresAt).toISOString() };
    return { type: 'qr', data: code };
  }
  const { kind, sessionId, ...rest } = news;
  const status: LinkStatusView = { sessionID: sessionId, ...rest };
  return { type: kind, data: status };
}
