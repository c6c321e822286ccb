import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { carrierCode } from './carrier-code.js';

/** How an HTTP request ended. */
export type Outcome =
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
export class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status: number | undefined;
  private headers: Readonly<Record<string, string | undefined>> = {};
  private readonly chunks: Buffer[] = [];
  private ended = false;

  /** @param onEnd called once */
  constructor(private readonly onEnd: (outcome: Outcome) => void) {}

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
