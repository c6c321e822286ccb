import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { MessagingError } from '../common/errors.js';

const EXCHANGE = Symbol('nestjs-messaging: exchange');

/** Node's request with what the edge keeps about it. */
type NotedRequest = IncomingMessage & { [EXCHANGE]?: RequestContext };

/** Node's side of a request, below the framework. */
export interface Wire {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Takes the response from the framework for good and answers the headers it holds; what it sends later is dropped. */
  takeOver(): OutgoingHttpHeaders;
}

/** One request to a route of ours, from its arrival until it is answered or its connection is gone. */
export class RequestContext {
  /** Stops whoever reads the body; undefined while nobody does. */
  stopReading: (() => void) | undefined;
  /** Called once when the request is over. */
  onEnd: (() => void) | undefined;
  /** Takes the request out of its account's count. */
  leaveAccount: (() => void) | undefined;
  private isOver = false;
  private controller: AbortController | undefined;

  /** @param openedAt when it arrived, by the clock's `elapsed` */
  constructor(
    readonly wire: Wire,
    readonly openedAt: number,
  ) {
    const req: NotedRequest = wire.req;
    req[EXCHANGE] = this;
    wire.res.once('close', () => this.end());
  }

  /** Whether it was answered, by whomever, or nobody listens any more. */
  get over(): boolean {
    return this.isOver;
  }

  /** Aborted when the answer is no longer waited for: the time is over, or the client has gone. Made when asked for. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.isOver) this.abort(this.controller);
    return this.controller.signal;
  }

  /** Stops reading, tells of the end, and aborts the signal unless the answer went out whole. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.leaveAccount?.();
    this.stopReading?.();
    this.onEnd?.();
    if (this.controller !== undefined && !this.wire.res.writableFinished) this.abort(this.controller);
  }

  // With an error of ours as the reason: a handler that lets it through puts no fault in the log.
  private abort(controller: AbortController): void {
    controller.abort(new MessagingError('error.timeout'));
  }
}

/** The exchange that a request of ours belongs to. */
export function requestContextOf(req: NotedRequest): RequestContext | undefined {
  return req[EXCHANGE];
}
