import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** How many bytes of a response are read. */
const MAX_REPLY_BYTES = 2048;

/** A signed call. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How a call ended. */
export interface WebhookOutcome {
  /** The status of the response. Undefined: there was no response. */
  readonly status: number | undefined;
  /**
   * Why there was no response, in a short word. An address that must not be called has the same word as one that does not answer.
   */
  readonly error: string | undefined;
  /**
   * The first bytes of the response, as text. Undefined if there was no response, or if its content is encoded, because it is not
   * decoded.
   */
  readonly reply: string | undefined;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  /** How long the call took, in whole milliseconds. */
  readonly ms: number;
}

/** How an exchange ended: with a response, or with a word that says why there is none. */
export type ExchangeEnd =
  | {
      readonly status: number;
      readonly reply: string | undefined;
      readonly retryAfter: string | undefined;
      readonly error?: undefined;
    }
  | { readonly error: string };

/** A connection could not be opened, with the reason. */
export class DialError extends Error {
  override readonly name = 'DialError';
  constructor(readonly reason: 'unreachable' | 'tls_failed') {
    super('There is no connection.');
  }
}

/** undici's codes of a connection that ended before the answer. */
const LOST = new Set(['UND_ERR_SOCKET', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'ECONNRESET', 'EPIPE']);

/**
 * One request and its response. It ends once: with the whole response, at the response's 2049th byte, with an error, or when it
 * expires.
 */
export class WebhookExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status: number | undefined;
  private headers: IncomingHttpHeaders = {};
  private readonly chunks: Buffer[] = [];
  private received = 0;
  private ended = false;

  /** @param onEnd called once. `isWhole`: the response was read to its end, so the connection can be used again */
  constructor(private readonly onEnd: (end: ExchangeEnd, isWhole: boolean) => void) {}

  /** Ends the exchange with the part of the response that has come so far. */
  expire(): void {
    this.end('timeout', false);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.ended) controller.abort(new Error('The call has ended before it was sent.'));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    this.chunks.push(chunk.subarray(0, MAX_REPLY_BYTES - this.received));
    this.received += chunk.length;
    if (this.received > MAX_REPLY_BYTES) this.end('cut', false);
  }

  onResponseEnd(): void {
    this.end('malformed_answer', true);
  }

  onResponseError(_: Dispatcher.DispatchController | undefined, error: Error & { readonly code?: unknown }): void {
    if (error instanceof DialError) this.end(error.reason, false);
    else this.end(LOST.has(String(error.code)) ? 'connection_lost' : 'malformed_answer', false);
  }

  /** @param error the word to report if there is no response */
  private end(error: string, isWhole: boolean): void {
    if (this.ended) return;
    this.ended = true;
    const { status } = this;
    if (status === undefined) this.onEnd({ error }, false);
    else this.onEnd({ status, reply: this.reply(), retryAfter: one(this.headers['retry-after']) }, isWhole);
    if (!isWhole) this.controller?.abort(new Error('The call has ended.'));
  }

  private reply(): string | undefined {
    if (this.headers['content-encoding'] !== undefined) return undefined;
    if (this.chunks.length === 0) return '';
    // Databases refuse NUL in a text.
    return Buffer.concat(this.chunks).toString('utf8').replaceAll('\0', '\ufffd');
  }
}

function one(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : value?.[0];
}
