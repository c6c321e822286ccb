import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import { lastCaller } from '../../accounts/keys/authenticator.js';
import type { Clock } from '../../common/clock.js';
import { type FaultLog, faultLog } from '../../common/log.js';
import { type ErrorAnswer, errorAnswer, logFault } from '../errors.js';
import type { HttpSettings } from '../http-options.js';
import type { RequestContext } from '../request-context.js';
import { DiscardQueue } from './discard-queue.js';

/** A client that sends nothing for this long, in milliseconds, is disconnected. */
const IDLE_MS = 5_000;

/** The least time in milliseconds, and the fewest bytes, that a refused client gets to finish its upload. */
const LINGER_MS = 5_000;
const LINGER_BYTES = 16_777_216;

/** After the answer to an unfinished upload, its bytes are received and discarded for at most `ms` and up to `bytes`. */
interface LingerBounds {
  readonly ms: number;
  readonly bytes: number;
}

/** Answers requests with errors before they reach a handler. It writes to Node's response, below the framework. */
export class EarlyAnswers {
  private readonly log: FaultLog;
  private readonly discards = new DiscardQueue();

  constructor(
    private readonly settings: HttpSettings,
    private readonly deprecation: Readonly<Record<string, string>>,
    private readonly clock: Clock,
  ) {
    this.log = faultLog('Messaging', clock);
  }

  /** The answer to an error on one of our routes. Faults are logged. */
  answerTo(error: unknown, requestId?: string): ErrorAnswer {
    logFault(this.log, error, requestId);
    return errorAnswer(error, this.settings.catalogue);
  }

  /**
   * Ends a request with an error. Does nothing if the request is over or its response has begun.
   * @param hangUp close the connection after the answer, because the client is still sending
   */
  send(context: RequestContext, error: unknown, hangUp: boolean): void {
    if (context.over) return;
    context.end();
    if (context.res.headersSent) return;
    const answer = this.answerTo(error, context.requestId);
    const headers = this.withDeprecation(context, context.takeOver());
    if (hangUp) answerAndHangUp(context, answer, headers, this.clock, this.lingerBounds(context), this.discards);
    else answerAtOnce(context, answer, headers);
  }

  /** Adds the deprecation headers for a key in `Authorization: Bearer`, unless the guard has set them. */
  private withDeprecation({ req, res }: RequestContext, given: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const isSet = 'deprecation' in given || res.hasHeader('deprecation');
    if (isSet || lastCaller(req)?.via !== 'legacy-bearer') return given;
    const links = [given.link ?? res.getHeader('link') ?? [], this.deprecation.Link ?? []].flat().map(String);
    const { link: _, ...rest } = given;
    return { ...rest, ...this.deprecation, ...(links.length > 0 ? { Link: links } : {}) };
  }

  /** The rest of the request's time, and a multiple of the largest body. A client that sends far more is cut off. */
  private lingerBounds({ openedAt }: RequestContext): LingerBounds {
    const { requestMs, maxBodyBytes } = this.settings;
    const ms = Math.max(LINGER_MS, openedAt + requestMs - this.clock.elapsed());
    return { ms, bytes: Math.max(LINGER_BYTES, 4 * maxBodyBytes) };
  }
}

/** @param given the headers that the framework has set for this response */
function answerAtOnce({ req, res }: RequestContext, answer: ErrorAnswer, given: OutgoingHttpHeaders): void {
  res.end(writeHead(res, answer, given));
  // The rest of a small body is discarded, so that the connection can carry the next request.
  req.resume();
}

/**
 * Answers while the client is still sending, then closes the connection. Many clients write their whole body before they
 * read. Closing a socket with unread bytes resets the connection, and the reset can overtake the answer. Therefore the
 * connection is closed in stages (RFC 9112 section 9.6): the answer carries its length, our side is closed, and received
 * bytes are discarded until the body or the connection ends, within the bounds.
 */
function answerAndHangUp(
  context: RequestContext,
  answer: ErrorAnswer,
  given: OutgoingHttpHeaders,
  clock: Clock,
  bounds: LingerBounds,
  discards: DiscardQueue,
): void {
  const { req, res } = context;
  if (req.httpVersionMajor > 1) {
    // An HTTP/2 stream is one of several, so only the stream is closed, without an error (RFC 9113 section 8.1).
    res.once('finish', () => closeStream(res));
    answerAtOnce(context, answer, given);
    return;
  }
  res.setHeader('Connection', 'close');
  const text = writeHead(res, answer, given);
  res.flushHeaders();
  // `res.end()` is not used here, because Node would close both sides of the connection.
  res.write(text, () => req.socket.end());
  linger(req, clock, bounds, discards, () => {
    res.end();
    req.socket.destroySoon();
  });
}

/** Discards received bytes and calls `done` once: at the end of the body or of the connection, or at a bound. */
function linger(
  req: IncomingMessage,
  clock: Clock,
  { ms, bytes }: LingerBounds,
  discards: DiscardQueue,
  done: () => void,
): void {
  let received = 0;
  let receivedBefore = 0;
  const end = (): void => {
    cancelTotal();
    cancelIdle();
    stopDiscarding();
    req.off('end', end).off('close', end);
    done();
  };
  const watch = (): (() => void) =>
    clock.after(IDLE_MS, () => {
      if (received === receivedBefore) {
        end();
        return;
      }
      receivedBefore = received;
      cancelIdle = watch();
    });
  const cancelTotal = clock.after(ms, end);
  let cancelIdle = watch();
  const stopDiscarding = discards.discard(req, (count) => {
    received += count;
    if (received > bytes) end();
  });
  req.once('end', end).once('close', end);
}

/** Node's HTTP/2 response has the stream below it. */
function closeStream(res: ServerResponse & { readonly stream?: { close(code: number): void } }): void {
  res.stream?.close(constants.NGHTTP2_NO_ERROR);
}

/** Sets the status and the headers, and returns the body. */
function writeHead(res: ServerResponse, { body, headers }: ErrorAnswer, given: OutgoingHttpHeaders): string {
  const text = JSON.stringify(body);
  res.statusCode = body.statusCode;
  for (const [name, value] of Object.entries({ ...given, ...headers })) {
    if (value !== undefined) res.setHeader(name, value);
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  return text;
}
