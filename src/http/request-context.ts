import { randomUUID } from 'node:crypto';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Cancellation } from '../common/concurrency/async.js';
import { MessagingError } from '../common/errors.js';
import { masked } from '../common/log.js';
import type { EdgeRoute } from './route-table.js';

const CONTEXT = Symbol('nestjs-messaging: request context');

/** Node's request with its context. */
type NotedRequest = IncomingMessage & { [CONTEXT]?: RequestContext };

/** The part of a framework's request that is used here. Express's request extends Node's. */
export interface FramedRequest {
  readonly ip?: string | undefined;
}

/**
 * Detaches the response from the framework and returns the headers that the framework has set. Everything that the
 * framework sends later is dropped.
 */
export type TakeOver = () => OutgoingHttpHeaders;

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
  /** Its position in the list of {@link OpenRequests}. */
  position = 0;
  private isOver = false;
  private isAborted = false;
  private controller: AbortController | undefined;
  private ownId: string | undefined;

  /**
   * `req` and `res` are Node's, below the framework. They are fields, not an object literal: V8 may decide to allocate the
   * literals of a place in its old space, where each keeps its request until the next full collection.
   *
   * @param framed the framework's request
   * @param openedAt the time of arrival by the clock's `elapsed`, in milliseconds
   */
  constructor(
    readonly req: NotedRequest,
    readonly res: ServerResponse,
    readonly takeOver: TakeOver,
    readonly route: EdgeRoute,
    readonly openedAt: number,
    private readonly framed: FramedRequest = {},
  ) {
    req[CONTEXT] = this;
    res.once('close', () => this.end());
  }

  /** The request target, with its query. */
  get target(): string {
    return this.req.url ?? '';
  }

  /** The client's address according to the framework, which decides whether a proxy's headers are trusted. */
  get ip(): string | undefined {
    return this.framed.ip;
  }

  /** The id for the log: `X-Request-Id`, if a proxy or the client sent one of 1 to 128 visible characters, otherwise our own. */
  get requestId(): string {
    const given = this.req.headers['x-request-id'];
    if (typeof given === 'string' && /^[!-~]{1,128}$/.test(given)) return masked(given);
    this.ownId ??= randomUUID();
    return this.ownId;
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
    this.isAborted = !this.res.writableFinished;
    if (this.isAborted) this.controller?.abort(this.reason);
  }
}

/**
 * The requests that are not over, in no order. V8 gives a `Set` or `Map` a new table after every few requests. A discarded table in
 * V8's old space keeps its successors alive, and the requests in them, until the next full collection.
 */
export class OpenRequests {
  private readonly list: RequestContext[] = [];

  add(context: RequestContext): void {
    context.position = this.list.push(context) - 1;
  }

  /** Removes a request that was added; must be called once for each. */
  remove({ position }: RequestContext): void {
    const last = this.list.pop();
    if (last === undefined || position === this.list.length) return;
    this.list[position] = last;
    last.position = position;
  }

  /** Returns a copy, because requests may end while the caller reads it. */
  all(): readonly RequestContext[] {
    return [...this.list];
  }
}

/** The context of a request to our routes. */
export function requestContextOf(req: NotedRequest): RequestContext | undefined {
  return req[CONTEXT];
}
