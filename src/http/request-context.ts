import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Cancellation } from '../common/async.js';
import { MessagingError } from '../common/errors.js';

const CONTEXT = Symbol('nestjs-messaging: request context');

/** Node's request with its context. */
type NotedRequest = IncomingMessage & { [CONTEXT]?: RequestContext };

/** Node's side of a request, below the framework. */
export interface Wire {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Detaches the response from the framework and returns the headers it holds; what the framework sends later is dropped. */
  takeOver(): OutgoingHttpHeaders;
}

/**
 * One request to our routes, from its arrival until it is answered or its connection ends. As a `Cancellation` it is aborted
 * at the deadline, or when the client disconnects.
 */
export class RequestContext implements Cancellation {
  /** Stops reading the body; undefined while it is not being read. */
  stopReading: (() => void) | undefined;
  /** Called once when the request is over. */
  onEnd: (() => void) | undefined;
  /** Removes the request from the count of its account. */
  leaveAccount: (() => void) | undefined;
  /** Whether the host has asked `isMessagingRoute` about this request. */
  recognised = false;
  private isOver = false;
  private isAborted = false;
  private controller: AbortController | undefined;

  /** @param openedAt the time of arrival by the clock's `elapsed`, in milliseconds */
  constructor(
    readonly wire: Wire,
    readonly openedAt: number,
  ) {
    const req: NotedRequest = wire.req;
    req[CONTEXT] = this;
    wire.res.once('close', () => this.end());
  }

  /** Whether the request was answered or its connection ended. */
  get over(): boolean {
    return this.isOver;
  }

  get aborted(): boolean {
    return this.isAborted;
  }

  // The reason is a MessagingError, so that a handler which rethrows it logs no fault.
  get reason(): MessagingError {
    return new MessagingError('error.timeout');
  }

  /** The same as a signal, for handlers that pass it on. Created on first use. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.controller.abort(this.reason);
    return this.controller.signal;
  }

  /** Marks a request that was over before its handler began as aborted, even when it was answered. */
  beginHandler(): this {
    this.isAborted ||= this.isOver;
    return this;
  }

  /** Stops reading, calls `onEnd`, and aborts the signal unless the answer was sent completely. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.leaveAccount?.();
    this.stopReading?.();
    this.onEnd?.();
    this.isAborted = !this.wire.res.writableFinished;
    if (this.isAborted) this.controller?.abort(this.reason);
  }
}

/** The context of a request to our routes. */
export function requestContextOf(req: NotedRequest): RequestContext | undefined {
  return req[CONTEXT];
}
