import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
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

/** One request to our routes, from its arrival until it is answered or its connection ends. */
export class RequestContext {
  /** Stops reading the body; undefined while it is not being read. */
  stopReading: (() => void) | undefined;
  /** Called once when the request is over. */
  onEnd: (() => void) | undefined;
  /** Removes the request from the count of its account. */
  leaveAccount: (() => void) | undefined;
  /** Whether the host has asked `isMessagingRoute` about this request. */
  recognised = false;
  private isOver = false;
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

  /** Aborted at the deadline, or when the client disconnects. Created on first use. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.abort(this.controller);
    return this.controller.signal;
  }

  /** Stops reading, calls `onEnd`, and aborts the signal unless the answer was sent completely. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.leaveAccount?.();
    this.stopReading?.();
    this.onEnd?.();
    if (this.controller !== undefined && !this.wire.res.writableFinished) this.abort(this.controller);
  }

  // The reason is a MessagingError, so that a handler which rethrows it logs no fault.
  private abort(controller: AbortController): void {
    controller.abort(new MessagingError('error.timeout'));
  }
}

/** The context of a request to our routes. */
export function requestContextOf(req: NotedRequest): RequestContext | undefined {
  return req[CONTEXT];
}
