import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Client } from 'undici';
import type { Clock } from '../../../common/clock.js';
import { dropInterimAnswers } from '../../../common/interim-answers.js';
import type { MediaNetwork } from '../../../media/address-guard.js';
import { MediaRefusedError } from '../../../media/media-fetcher.js';
import { openPinned } from '../../../media/pinned-connection.js';
import type { WebhookTargets } from '../../endpoints/webhook-targets.js';
import type { Deadlines } from './deadlines.js';
import {
  DialError,
  type ExchangeEnd,
  WebhookExchange,
  type WebhookOutcome,
  type WebhookRequest,
} from './webhook-exchange.js';

// In a CommonJS bundle of esbuild `import.meta.url` is undefined.
const require = createRequire(import.meta.url ?? __filename);

/**
 * How long a connection without calls is kept, in milliseconds. It is less than the 5 s of Node's servers, so that our side
 * closes first.
 */
const IDLE_MS = 4000;

/**
 * The maximum number of bytes of the header fields of a response. Only the status of a response counts, so fields that a proxy or a framework
 * adds do not matter. The limit keeps a receiver from filling our memory.
 */
const MAX_HEADER_BYTES = 262_144;

/** What a call sends. */
interface Call {
  readonly method: 'GET' | 'POST';
  readonly headers: WebhookRequest['headers'];
  readonly body: string | null;
}

/** A connection, which carries one call at a time. */
interface Link {
  readonly client: Client;
  /** Aborts the set-up of the connection. */
  readonly dialling: AbortController;
  /** How many calls were answered on this connection. */
  served: number;
}

/** The keep-alive connections to one endpoint. It has as many connections as running calls. */
export class WebhookConnections {
  private readonly idle: Link[] = [];
  private readonly links = new Set<Link>();
  private readonly path: string;
  private isClosed = false;
  private isAllowed = false;

  constructor(
    private readonly url: URL,
    private readonly targets: Pick<WebhookTargets, 'addressesOf' | 'isAllowed'>,
    private readonly network: MediaNetwork,
    private readonly clock: Clock,
    /** The time limits of whole calls. */
    private readonly limits: Deadlines,
  ) {
    this.path = `${url.pathname}${url.search}`;
  }

  /**
   * Whether one of the connections went to an address that the host allows and that is not public. It is checked for each
   * connection, not for each call.
   */
  get isPrivate(): boolean {
    return this.isAllowed;
  }

  /**
   * Posts one call. Never throws. A server may close a connection while it is being sent the next call. Such a call is repeated
   * at once on a new connection, if no byte of a response has come.
   */
  post(request: WebhookRequest): Promise<WebhookOutcome> {
    return this.call({ method: 'POST', ...request });
  }

  /** Makes one call by GET, without a body. Otherwise as `post`. */
  get(headers: WebhookRequest['headers']): Promise<WebhookOutcome> {
    return this.call({ method: 'GET', headers, body: null });
  }

  private call(request: Call): Promise<WebhookOutcome> {
    return new Promise((resolve) => {
      const began = this.clock.elapsed();
      const link = this.idle.pop() ?? this.open();
      const wasUsed = link.served > 0;
      let exchange: WebhookExchange | undefined;
      const deadline = this.limits.begin(() => exchange?.expire());
      const end = (ended: ExchangeEnd) => {
        this.limits.cancel(deadline);
        resolve(outcome(ended, this.clock.elapsed() - began));
      };
      const first = this.exchange(link, request, (ended) => {
        if (ended.error !== 'connection_lost' || !wasUsed || this.isClosed) end(ended);
        else exchange = this.exchange(this.open(), request, end);
      });
      // A first exchange that ended at once may already have been followed by another one.
      exchange ??= first;
    });
  }

  /** Closes all connections, with the calls on them. */
  close(): void {
    this.isClosed = true;
    for (const link of this.links) this.drop(link);
  }

  private exchange(link: Link, call: Call, onEnd: (end: ExchangeEnd) => void): WebhookExchange {
    const exchange = new WebhookExchange((end, isWhole) => {
      if (isWhole) this.keep(link);
      else this.drop(link);
      onEnd(end);
    });
    link.client.dispatch({ ...call, path: this.path }, exchange);
    return exchange;
  }

  private keep(link: Link): void {
    link.served++;
    this.idle.push(link);
  }

  private open(): Link {
    const undici: typeof import('undici') = require('undici');
    const dialling = new AbortController();
    const client = new undici.Client(this.url.origin, {
      // This class limits the time of the whole call.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (_options, done) => {
        this.dial(dialling.signal).then(
          (socket) => done(null, socket),
          (error: unknown) => done(error instanceof Error ? error : new Error('not connected'), null),
        );
      },
    });
    const link: Link = { client, dialling, served: 0 };
    this.links.add(link);
    // A waiting call is made on the next connection of the same client, and the address of that connection is checked again.
    client.on('disconnect', () => {
      link.served = 0;
      if (this.idle.includes(link)) this.drop(link);
    });
    return link;
  }

  private async dial(signal: AbortSignal): Promise<Socket> {
    try {
      this.isAllowed ||= this.targets.isAllowed(this.url);
      const addresses = await this.targets.addressesOf(this.url);
      signal.throwIfAborted();
      const after = (ms: number, task: () => void) => this.clock.after(ms, task);
      return dropInterimAnswers(await openPinned(this.url, addresses, this.network, { signal, after }));
    } catch (error) {
      // A refused address gets the same error as an address that does not answer, so that nobody can explore the host's network.
      throw new DialError(error instanceof MediaRefusedError ? 'unreachable' : 'tls_failed');
    }
  }

  private drop(link: Link): void {
    if (!this.links.delete(link)) return;
    const place = this.idle.indexOf(link);
    if (place >= 0) this.idle.splice(place, 1);
    link.dialling.abort();
    link.client.destroy().catch(() => undefined);
  }
}

const NO_ANSWER = { status: undefined, reply: undefined, retryAfter: undefined };

function outcome(end: ExchangeEnd, ms: number): WebhookOutcome {
  const { status, reply, retryAfter } = end.error === undefined ? end : NO_ANSWER;
  return { status, error: end.error, reply, retryAfter, ms: Math.round(ms) };
}
