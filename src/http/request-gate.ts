import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { type Answer, type Authenticator, lastCaller, rememberCaller } from '../accounts/authenticator.js';
import type { Clock } from '../common/clock.js';
import { MessagingError } from '../common/errors.js';
import { answerAndHangUp, answerEarly, type LingerBounds } from './early-answer.js';
import { type ErrorAnswer, errorAnswer, logFault } from './errors.js';
import { sendContinue, waitsForContinue } from './expect-continue.js';
import type { HttpSettings } from './http-settings.js';
import { asJsonObject, bodyIntake, mayHaveBody, rawIntake, readBody, STRANGER_BYTES } from './request-body.js';
import { RequestContext, type Wire } from './request-context.js';
import { RequestsInFlight } from './requests-in-flight.js';
import type { EdgeRoute } from './route-table.js';

/** Seconds after which a client tries again while the application shuts down: elsewhere at once, or here after a restart. */
const RETRY_AFTER = 1;

/** The least time in milliseconds and the fewest bytes that a client has to finish its upload in after it was refused. */
const LINGER_MS = 5_000;
const LINGER_BYTES = 16_777_216;

/** Called with the body when a request may go on to its handler: an object, or the bytes where the route wants those. */
type Proceed = (body: unknown) => void;

/**
 * Lets requests to our routes in: their time runs from the arrival, the key is looked at before the body, the body is
 * read within its limit and parsed. The same for every platform; what is refused here reaches no handler.
 */
export class RequestGate {
  readonly #logger = new Logger('Messaging');
  /** Requests that are not answered yet. */
  readonly #open = new Map<RequestContext, EdgeRoute>();
  #closing = false;
  #onDrained: () => void = () => {};
  readonly #inFlight: RequestsInFlight;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly settings: HttpSettings,
    private readonly deprecation: Readonly<Record<string, string>>,
    private readonly clock: Clock,
  ) {
    this.#inFlight = new RequestsInFlight(settings.maxInFlight);
  }

  /** Starts the request's time. Undefined: the application shuts down, and the request has been refused. */
  open(wire: Wire, route: EdgeRoute): RequestContext | undefined {
    const exchange = new RequestContext(wire, this.clock.elapsed());
    if (this.#closing) {
      this.#refuseClosing(exchange);
      return undefined;
    }
    const { requestMs } = this.settings;
    const cancelDeadline = route.deadline ? this.clock.after(requestMs, () => this.#expire(exchange)) : undefined;
    this.#open.set(exchange, route);
    exchange.onEnd = () => {
      cancelDeadline?.();
      this.#open.delete(exchange);
      this.#checkDrained();
    };
    return exchange;
  }

  /**
   * Refuses what comes from now on, what is still being received and what only waits, with 503 and `Connection: close`.
   * Resolves when every other request has been answered, which its deadline bounds; answers that stream are not waited for.
   */
  async close(): Promise<void> {
    this.#closing = true;
    // Node tells a response that is pipelined behind others nothing of the end of its connection.
    const sockets = new Set([...this.#open.keys()].map(({ wire }) => wire.req.socket));
    for (const socket of sockets) socket.once('close', () => this.#endAllOf(socket));
    for (const [exchange, { waits }] of [...this.#open]) {
      if (waits || exchange.stopReading !== undefined) this.#refuseClosing(exchange);
      else endConnection(exchange.wire);
    }
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      this.#checkDrained();
    });
  }

  /** Takes the body in and proceeds with it (an empty one when there is none), unless the request is refused or gone. */
  admit(exchange: RequestContext, route: EdgeRoute, body: Readable, proceed: Proceed): void {
    if (!route.authenticated) {
      this.#receive(exchange, route, undefined, body, proceed);
      return;
    }
    const { req } = exchange.wire;
    const go = (who: Answer): void => {
      rememberCaller(req, this.authenticator, who);
      // One that ended while its key was looked up would never be released.
      if (who.kind === 'caller' && !exchange.over) {
        exchange.leaveAccount = this.#inFlight.enter(who.caller.accountId);
      }
      this.#receive(exchange, route, who, body, proceed);
    };
    try {
      const who = this.authenticator.authenticate(req.headers);
      if (who instanceof Promise) who.then(go).catch((error: unknown) => this.refuse(exchange, error));
      else go(who);
    } catch (error) {
      this.refuse(exchange, error);
    }
  }

  /** Answers a request with an error instead of letting it go on. */
  refuse(exchange: RequestContext, error: unknown): void {
    const { req } = exchange.wire;
    const little = Number(req.headers['content-length']) <= STRANGER_BYTES;
    // A client that waits for `100 Continue` sends either its body or the next request: only it knows which.
    this.#answer(exchange, error, !req.complete && (!little || waitsForContinue(req)));
  }

  /** What a client gets for an error that the platform reports on one of our routes; a fault is logged. */
  answerTo(error: unknown): ErrorAnswer {
    logFault(this.#logger, error);
    return errorAnswer(error, this.settings.catalogue);
  }

  #receive(
    exchange: RequestContext,
    { rawBody }: EdgeRoute,
    who: Answer | undefined,
    body: Readable,
    proceed: Proceed,
  ): void {
    const { req } = exchange.wire;
    if (exchange.over) return;
    if (this.#closing) {
      this.#refuseClosing(exchange);
      return;
    }
    if (!mayHaveBody(req.headers, req.httpVersionMajor)) {
      proceed(rawBody === undefined ? {} : Buffer.alloc(0));
      return;
    }
    if (body.readableEnded) {
      let left: unknown;
      try {
        // A parser that the host put in front of everything was first: what it made of the body has to do.
        left = rawBody === undefined ? asJsonObject(parsedBefore(req) ?? {}) : bytesBefore(req);
      } catch (error) {
        this.refuse(exchange, error);
        return;
      }
      proceed(left);
      return;
    }
    const { limit, tooLarge, into } =
      rawBody === undefined
        ? bodyIntake(req.headers, this.settings, who)
        : rawIntake(req.headers, rawBody, this.settings.maxBodyBytes);
    // Nobody is asked for a body that is refused whatever it is.
    const unwanted = waitsForContinue(req) && (who?.kind === 'refused' || limit === 0);
    if (unwanted || Number(req.headers['content-length']) > limit) {
      this.refuse(exchange, new MessagingError(tooLarge));
      return;
    }
    sendContinue(req, exchange.wire.res);
    exchange.stopReading = readBody(body, limit, into, {
      complete: (whole) => {
        exchange.stopReading = undefined;
        if (!exchange.over) proceed(whole);
      },
      refused: (error) => this.refuse(exchange, error),
      tooLarge: () => this.refuse(exchange, new MessagingError(tooLarge)),
    });
  }

  #refuseClosing(exchange: RequestContext): void {
    const { wire } = exchange;
    endConnection(wire);
    this.#answer(exchange, new MessagingError('error.storage_unavailable', {}, RETRY_AFTER), !wire.req.complete);
  }

  #endAllOf(socket: Socket): void {
    for (const exchange of [...this.#open.keys()]) if (exchange.wire.req.socket === socket) exchange.end();
  }

  #checkDrained(): void {
    if (this.#closing && ![...this.#open.values()].some(({ deadline }) => deadline)) this.#onDrained();
  }

  #expire(exchange: RequestContext): void {
    this.#answer(exchange, new MessagingError('error.timeout'), !exchange.wire.req.complete);
  }

  /** What the guard says to a caller whose key came the old way, where it has not run: the request did not get that far. */
  #withDeprecation({ req, res }: Wire, gathered: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const isTold = 'deprecation' in gathered || res.hasHeader('deprecation');
    if (isTold || lastCaller(req)?.via !== 'legacy-bearer') return gathered;
    const links = [gathered.link ?? res.getHeader('link') ?? [], this.deprecation.Link ?? []].flat().map(String);
    const { link: _, ...rest } = gathered;
    return { ...rest, ...this.deprecation, ...(links.length > 0 ? { Link: links } : {}) };
  }

  /** What is left of the request's time, and a multiple of the largest body: a client that is far above the limit is cut. */
  #lingerBounds({ openedAt }: RequestContext): LingerBounds {
    const { requestMs, maxBodyBytes } = this.settings;
    const ms = Math.max(LINGER_MS, openedAt + requestMs - this.clock.elapsed());
    return { ms, bytes: Math.max(LINGER_BYTES, 4 * maxBodyBytes) };
  }

  #answer(exchange: RequestContext, error: unknown, hangUp: boolean): void {
    if (exchange.over) return;
    exchange.end();
    const { wire } = exchange;
    if (wire.res.headersSent) return;
    const answer = this.answerTo(error);
    const gathered = this.#withDeprecation(wire, wire.takeOver());
    if (hangUp) answerAndHangUp(wire.req, wire.res, answer, gathered, this.clock, this.#lingerBounds(exchange));
    else answerEarly(wire.req, wire.res, answer, gathered);
  }
}

/** Has the connection end with the answer, so that its client turns to another process. */
function endConnection({ req, res }: Wire): void {
  if (req.httpVersionMajor > 1) sessionOf(req)?.close();
  else if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** An HTTP/2 connection, which ends after the streams that are open (RFC 9113 section 6.8). */
function sessionOf(req: IncomingMessage & { readonly stream?: ServerHttp2Stream }): Http2Session | undefined {
  return req.stream?.session;
}

/** What a parser of the host has left on Node's request. */
function parsedBefore(req: object): unknown {
  return 'body' in req ? req.body : undefined;
}

/** The bytes that a parser of the host has kept: as the body itself, or beside it as Nest's option `rawBody` does. */
function bytesBefore(req: object): Buffer {
  const kept = [parsedBefore(req), 'rawBody' in req ? req.rawBody : undefined].find((each) => Buffer.isBuffer(each));
  if (Buffer.isBuffer(kept)) return kept;
  throw new Error('A body parser in front of our routes has read a body that is wanted as it came: exclude the path.');
}
