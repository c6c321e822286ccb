import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Admission } from '../../accounts/admission.js';
import { type Answer, type Authenticator, countedAs, rememberCaller } from '../../accounts/keys/authenticator.js';
import type { Clock } from '../../common/clock.js';
import { ConcurrencyLimit } from '../../common/concurrency/concurrency-limit.js';
import { MessagingError } from '../../common/errors.js';
import type { ErrorAnswer } from '../errors.js';
import type { HttpSettings } from '../http-options.js';
import {
  asJsonObject,
  bodyIntake,
  isStreamed,
  mayHaveBody,
  rawIntake,
  readBody,
  UNAUTHENTICATED_BYTES,
} from '../request-body.js';
import { type FramedRequest, OpenRequests, RequestContext, type TakeOver } from '../request-context.js';
import type { EdgeRoute } from '../route-table.js';
import { EarlyAnswers } from './early-answer.js';
import { sendContinue, waitsForContinue } from './expect-continue.js';

/** `Retry-After` in seconds. During a shutdown another process may answer then; after a 429 another request may have ended. */
const RETRY_AFTER_S = 1;

/** Called with the body when a request is admitted to its handler: an object, or bytes or a stream if the route asks for them. */
type Proceed = (body: unknown) => void;

/**
 * Admits requests to our routes, on every platform: the deadline runs from the arrival, the key is checked before the body
 * is read, and the body is read within its limit and parsed. A refused request reaches no handler.
 */
export class RequestGate {
  private readonly answers: EarlyAnswers;
  /** The requests of each account that are being answered, so that one account leaves capacity for the others. */
  private readonly inFlight: ConcurrencyLimit;
  private readonly open = new OpenRequests();
  private closing = false;
  private onDrained: () => void = () => {};

  /** @param deprecation headers for callers whose key came in `Authorization: Bearer` */
  constructor(
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
    private readonly settings: HttpSettings,
    deprecation: Readonly<Record<string, string>>,
    private readonly clock: Clock,
  ) {
    this.answers = new EarlyAnswers(settings, deprecation, clock);
    this.inFlight = new ConcurrencyLimit(
      settings.maxInFlight,
      () => new MessagingError('error.too_many_in_flight', {}, RETRY_AFTER_S),
    );
  }

  /** Starts the deadline of a request. Undefined if the application is shutting down; the request was then refused. */
  begin(
    req: IncomingMessage,
    res: ServerResponse,
    takeOver: TakeOver,
    route: EdgeRoute,
    framed: FramedRequest,
  ): RequestContext | undefined {
    const context = new RequestContext(req, res, takeOver, route, this.clock.elapsed(), framed);
    if (this.closing) {
      if (!route.whileClosing) {
        this.refuseClosing(context);
        return undefined;
      }
      endConnection(context);
    }
    const { requestMs } = this.settings;
    const cancelDeadline = route.deadline ? this.clock.after(requestMs, () => this.expire(context)) : undefined;
    this.open.add(context);
    context.onEnd = () => {
      cancelDeadline?.();
      this.open.remove(context);
      this.checkDrained();
    };
    return context;
  }

  /**
   * Refuses requests with 503 and `Connection: close`: new ones, those whose body is being received, and those that only wait.
   * Resolves when all others have been answered, at the latest at their deadlines. It does not wait for streams.
   */
  async close(): Promise<void> {
    this.closing = true;
    // Node does not notify a response that is pipelined behind others when its connection ends.
    const sockets = new Set(this.open.all().map(({ req }) => req.socket));
    for (const socket of sockets) socket.once('close', () => this.endAllOf(socket));
    for (const context of this.open.all()) {
      if (context.route.waits || context.stopReading !== undefined) this.refuseClosing(context);
      else endConnection(context);
    }
    await new Promise<void>((resolve) => {
      this.onDrained = resolve;
      this.checkDrained();
    });
  }

  /** Authenticates, receives the body, and proceeds with it (an empty one when there is none), unless the request ends. */
  admit(context: RequestContext, route: EdgeRoute, body: Readable, proceed: Proceed): void {
    if (!route.authenticated) {
      this.receive(context, route, undefined, body, proceed);
      return;
    }
    const { req } = context;
    const admit = (answer: Answer) => this.admission.admit(answer, route.permission, context);
    const go = (who: Answer): void => {
      rememberCaller(req, this.authenticator, who);
      // A request that ended during the look-up of its key would never be released.
      if (who.kind === 'caller' && !context.over) {
        context.leaveAccount = this.inFlight.enter(countedAs(who.caller));
      }
      this.receive(context, route, who, body, proceed);
    };
    try {
      const answer = this.authenticator.authenticate(req.headers, route.permission?.bearer);
      const who = answer instanceof Promise ? answer.then(admit) : admit(answer);
      if (who instanceof Promise) who.then(go).catch((error: unknown) => this.refuse(context, error));
      else go(who);
    } catch (error) {
      this.refuse(context, error);
    }
  }

  /** Answers a request with an error instead of admitting it. */
  refuse(context: RequestContext, error: unknown): void {
    const { req } = context;
    const isSmall = Number(req.headers['content-length']) <= UNAUTHENTICATED_BYTES;
    // A client that waits for `100 Continue` sends either its body or the next request; the server cannot know which.
    this.answers.send(context, error, !req.complete && (!isSmall || waitsForContinue(req)));
  }

  /** The answer to an error that the platform reports on one of our routes. Faults are logged. */
  answerTo(error: unknown): ErrorAnswer {
    return this.answers.answerTo(error);
  }

  private receive(
    context: RequestContext,
    { rawBody, streamed }: EdgeRoute,
    who: Answer | undefined,
    body: Readable,
    proceed: Proceed,
  ): void {
    const { req } = context;
    if (context.over) return;
    if (this.closing) {
      this.refuseClosing(context);
      return;
    }
    if (!mayHaveBody(req.headers, req.httpVersionMajor)) {
      proceed(rawBody === undefined ? {} : Buffer.alloc(0));
      return;
    }
    if (body.readableEnded) {
      let left: unknown;
      try {
        // A body parser of the host was mounted before the edge. Only its result is left of the body.
        left = rawBody === undefined ? asJsonObject(parsedBefore(req) ?? {}) : bytesBefore(req);
      } catch (error) {
        this.refuse(context, error);
        return;
      }
      proceed(left);
      return;
    }
    if (streamed !== undefined && who?.kind === 'caller' && isStreamed(req.headers, streamed)) {
      sendContinue(req, context.res);
      proceed(body);
      return;
    }
    const { limit, tooLarge, retryAfter, into } =
      rawBody === undefined
        ? bodyIntake(req.headers, this.settings, who)
        : rawIntake(req.headers, rawBody, this.settings.maxBodyBytes);
    // A body that will be refused in any case is not asked for.
    const unwanted = waitsForContinue(req) && (who?.kind === 'refused' || limit === 0);
    if (unwanted || Number(req.headers['content-length']) > limit) {
      this.refuse(context, new MessagingError(tooLarge, {}, retryAfter));
      return;
    }
    sendContinue(req, context.res);
    context.stopReading = readBody(body, limit, into, {
      complete: (whole) => {
        context.stopReading = undefined;
        if (!context.over) proceed(whole);
      },
      refused: (error) => this.refuse(context, error),
      tooLarge: () => this.refuse(context, new MessagingError(tooLarge, {}, retryAfter)),
    });
  }

  private refuseClosing(context: RequestContext): void {
    endConnection(context);
    const error = new MessagingError('error.storage_unavailable', {}, RETRY_AFTER_S);
    this.answers.send(context, error, !context.req.complete);
  }

  private endAllOf(socket: Socket): void {
    for (const context of this.open.all()) if (context.req.socket === socket) context.end();
  }

  private checkDrained(): void {
    if (this.closing && !this.open.all().some(({ route }) => route.deadline)) this.onDrained();
  }

  private expire(context: RequestContext): void {
    this.answers.send(context, new MessagingError('error.timeout'), !context.req.complete);
  }
}

/** Ends the connection with the answer, so that the client connects to another process. */
function endConnection({ req, res }: RequestContext): void {
  if (req.httpVersionMajor > 1) connectionOf(req)?.close();
  else if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** The HTTP/2 connection of a request. When it is closed, its open streams end first (RFC 9113 section 6.8). */
function connectionOf(req: IncomingMessage & { readonly stream?: ServerHttp2Stream }): Http2Session | undefined {
  return req.stream?.session;
}

/** The body that a parser of the host has set on Node's request. */
function parsedBefore(req: object): unknown {
  return 'body' in req ? req.body : undefined;
}

/** The bytes that a body parser of the host has kept: as the body itself, or besides it, as Nest's option `rawBody` does. */
function bytesBefore(req: object): Buffer {
  const kept = [parsedBefore(req), 'rawBody' in req ? req.rawBody : undefined].find((each) => Buffer.isBuffer(each));
  if (Buffer.isBuffer(kept)) return kept;
  throw new Error(
    'A body parser of the host has read a body before our routes, which need its bytes: exclude their path from the parser.',
  );
}
