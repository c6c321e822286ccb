import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../common/clock.js';
import type { GatewaySettings } from './http-sms-options.js';
import type { VendorRequest } from './vendor.js';

/** What an answer may have at most; the longest of a real one is some kilobytes. */
const ANSWER_BYTES = 64 * 1024;

/**
 * Makes requests to one host: kept-alive connections, no more of them than requests are let in, one deadline from the
 * connection to the last byte, certificates verified, no redirects, nothing repeated.
 */
export class HttpClient {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly underWay = new Set<Promise<ExchangeOutcome>>();

  constructor(
    private readonly settings: GatewaySettings,
    private readonly clock: Clock,
  ) {
    const { origin, pathname } = settings.baseUrl;
    this.prefix = pathname.replace(/\/$/, '');
    this.pool = new Pool(origin, {
      connections: settings.concurrency,
      pipelining: 1,
      // The deadline is ours; undici's timers must not come before it.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: ANSWER_BYTES,
      connect: { ...settings.tls, rejectUnauthorized: true, timeout: settings.requestMs },
    });
  }

  /** @throws only what a wrong description leads to; nothing was sent then */
  send({ method = 'POST', path, headers = {}, json, form }: VendorRequest): Promise<ExchangeOutcome> {
    const body = form === undefined ? jsonBody(json) : formBody(form);
    const outcome = new Promise<ExchangeOutcome>((resolve) => {
      const exchange = new HttpExchange((outcome) => {
        cancel();
        resolve(outcome);
      });
      const cancel = this.clock.after(this.settings.requestMs, () => exchange.expire());
      this.pool.dispatch(
        {
          method,
          path: `${this.prefix}${path}`,
          headers: { accept: 'application/json', 'user-agent': 'nestjs-messaging', ...headers, ...body?.headers },
          body: body?.text ?? null,
        },
        exchange,
      );
    });
    this.underWay.add(outcome);
    return outcome.finally(() => this.underWay.delete(outcome));
  }

  /** Resolves when what is under way has ended, within its deadline; undici's own `close` may wait longer. */
  async close(): Promise<void> {
    await Promise.allSettled(this.underWay);
    await this.pool.destroy();
  }
}

interface Body {
  readonly text: string;
  readonly headers: { readonly 'content-type': string };
}

function jsonBody(json: unknown): Body | undefined {
  if (json === undefined) return undefined;
  return { text: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
}

function formBody(form: NonNullable<VendorRequest['form']>): Body {
  const given = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return { text, headers: { 'content-type': 'application/x-www-form-urlencoded' } };
}

/** How an HTTP request ended. */
export type ExchangeOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | undefined>>;
      /** Undefined when it did not come whole, in time and within the limit. */
      readonly text: string | undefined;
    }
  /** Nothing of it was written: to send it again is safe. */
  | { readonly kind: 'not_sent'; readonly code: string }
  /** It was written, at least in part, and nobody answered. */
  | { readonly kind: 'lost'; readonly code: string };

const CODES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ENOTFOUND: 'host_not_found',
  EAI_AGAIN: 'host_not_found',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_SOCKET: 'connection_lost',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
};

/**
 * Follows one request through undici and tells how it ended. `onRequestStart` comes right before the first byte is written,
 * so an error before it means that nothing was sent.
 */
class HttpExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status: number | undefined;
  private headers: Readonly<Record<string, string | undefined>> = {};
  private readonly chunks: Buffer[] = [];
  private ended = false;

  /** @param onEnd called once */
  constructor(private readonly onEnd: (outcome: ExchangeOutcome) => void) {}

  /** The deadline has passed: whatever is known by now is the outcome. */
  expire(): void {
    const { controller } = this;
    this.end(controller ? 'timeout' : 'connect_timeout');
    controller?.abort(new Error('The deadline has passed.'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.ended) controller.abort(new Error('Nobody waits for this request any more.'));
    else this.controller = controller;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
    );
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.end('ended', Buffer.concat(this.chunks).toString('utf8'));
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error & { code?: unknown }): void {
    const code = typeof error.code === 'string' ? error.code : error.name;
    this.end(CODES[code] ?? carrierCode(code.toLowerCase()));
  }

  private end(code: string, text?: string): void {
    if (this.ended) return;
    this.ended = true;
    if (this.status !== undefined) {
      this.onEnd({ kind: 'answered', status: this.status, headers: this.headers, text });
    } else {
      this.onEnd({ kind: this.controller ? 'lost' : 'not_sent', code });
    }
  }
}

const LONGEST = 40;

/**
 * A carrier's code as it is kept, logged and shown: 1 to 40 letters, digits, `.`, `_`, `:` and `-`. A number or a text that
 * a carrier might put there does not get through: nothing with more than 6 digits in a row does.
 */
export function carrierCode(code: string): string {
  const plain = code.replace(/[^A-Za-z0-9._:-]+/g, '_').replace(/\d{7,}/g, '_');
  return plain.slice(0, LONGEST) || 'error';
}
