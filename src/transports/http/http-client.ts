import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Dispatcher, Pool } from 'undici';
import type { Clock } from '../../common/clock.js';
import { PendingWork } from '../../common/concurrency/pending-work.js';
import { dropInterimAnswers } from '../../common/interim-answers.js';
import { charsetParameter, decodeCharset, UnknownCharsetError, utf16Of } from '../../common/text/charset.js';
import { decodedContent } from '../../common/text/content-encoding.js';
import type { GatewaySettings } from './http-sms-options.js';
import { lookupPrivate } from './plain-hosts.js';
import type { VendorRequest } from './vendor.js';

// In a CommonJS bundle of esbuild `import.meta.url` is undefined.
const require = createRequire(import.meta.url ?? __filename);

/** The maximum size of an answer in bytes, both packed and unpacked. Real answers have at most some kilobytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The vendor's own headers take precedence. No encoding is requested, because answers are small. */
const OWN_HEADERS = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'nestjs-messaging' };

/**
 * Makes requests to one host, over keep-alive connections whose number is limited by `concurrency`. One deadline covers a request
 * from connecting to the last byte. It verifies certificates, follows no redirects and repeats nothing.
 */
export class HttpClient {
  private readonly pool: Pool;
  private readonly prefix: string;
  private readonly pending = new PendingWork();

  constructor(
    private readonly settings: GatewaySettings,
    private readonly clock: Clock,
  ) {
    const { baseUrl, tls, requestMs } = settings;
    const { origin, pathname } = baseUrl;
    this.prefix = pathname.replace(/\/$/, '');
    // undici is loaded here, because hosts also import this entry in tests and tools that send nothing.
    const undici: typeof import('undici') = require('undici');
    const connect = undici.buildConnector({
      ...tls,
      rejectUnauthorized: true,
      timeout: requestMs,
      // `lookup` is not called if the host is an IP address. The options refuse public addresses.
      ...(baseUrl.protocol === 'http:' ? { lookup: lookupPrivate } : {}),
    });
    this.pool = new undici.Pool(origin, {
      connections: settings.concurrency,
      pipelining: 1,
      // These time limits are off, because this class sets the deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: MAX_ANSWER_BYTES,
      connect: (options, done) =>
        connect(options, (...[error, socket]) => {
          if (error) done(error, null);
          else done(null, dropInterimAnswers(socket));
        }),
    });
  }

  /**
   * Sends a request.
   * @throws Error for a request that cannot be built. Then nothing is sent
   */
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
          headers: { ...OWN_HEADERS, ...headers, ...body?.headers },
          body: body?.text ?? null,
        },
        exchange,
      );
    });
    return this.pending.add(outcome);
  }

  /** Resolves when all requests have ended, within their deadline. undici's own `close` may wait longer. */
  async close(): Promise<void> {
    await this.pending.end();
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

/** The end of an HTTP request. */
export type ExchangeOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: Readonly<Record<string, string | undefined>>;
      /** Undefined if the body was incomplete, late, too large or in an unknown encoding. */
      readonly text: string | undefined;
    }
  /** Nothing was written, so the request can be repeated. */
  | { readonly kind: 'not_sent'; readonly code: string }
  /** The request was written, at least in part, and got no answer. */
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
 * Tracks one request in undici and reports its end. undici calls `onRequestStart` right before writing the first byte,
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

  /** Ends the request at its deadline. The outcome depends on the progress by then. */
  expire(): void {
    const { controller } = this;
    this.end(controller ? 'timeout' : 'connect_timeout');
    controller?.abort(new Error('The deadline has passed.'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.ended) controller.abort(new Error('The request has ended before it was sent.'));
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
    this.end('ended', answerText(Buffer.concat(this.chunks), this.headers));
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

/**
 * Returns the text of an answer. A content encoding is decoded, although none was requested. If the charset is unknown or wrong,
 * characters are replaced. This does no harm, because ids and codes are ASCII.
 */
function answerText(body: Buffer, headers: Readonly<Record<string, string | undefined>>): string | undefined {
  const bytes = decodedContent(body, headers['content-encoding'], MAX_ANSWER_BYTES);
  if (bytes === undefined) return undefined;
  const charset = utf16Of(bytes) ?? charsetParameter(headers['content-type']) ?? 'utf-8';
  try {
    return decodeCharset(bytes, charset);
  } catch (error) {
    if (error instanceof UnknownCharsetError || error instanceof TypeError) return new TextDecoder().decode(bytes);
    throw error;
  }
}

const MAX_CODE_LENGTH = 40;

/**
 * Returns a carrier's code in the form that is stored, logged and shown: 1 to 40 letters, digits, `.`, `_`, `:` and `-`.
 * Sequences of more than 6 digits are replaced, so that phone numbers do not get into logs.
 */
export function carrierCode(code: string): string {
  const plain = code.replace(/[^A-Za-z0-9._:-]+/g, '_').replace(/\d{7,}/g, '_');
  return plain.slice(0, MAX_CODE_LENGTH) || 'error';
}
