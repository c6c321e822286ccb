import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { Clock } from '../common/clock.js';
import type { ErrorAnswer } from './errors.js';

/** A client that sends nothing for so long, in milliseconds, is waited for no longer. */
const IDLE_MS = 5_000;

/** How long, in milliseconds, and how many bytes are received and thrown away after an answer to an unfinished upload. */
export interface LingerBounds {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * Writes an error on Node's response, past the framework.
 * @param gathered headers that the framework holds for this response
 */
export function answerEarly(
  req: IncomingMessage,
  res: ServerResponse,
  answer: ErrorAnswer,
  gathered: OutgoingHttpHeaders,
): void {
  const text = writeHead(res, answer, gathered);
  res.end(text);
  // What is left of a small body, so that the connection can carry the next request.
  req.resume();
}

/**
 * The same while the client is still sending, and hangs up. Many clients write their whole body before they read, and a socket
 * that is closed with unread bytes resets the connection, which can overtake the answer. So the connection is closed in stages
 * (RFC 9112 section 9.6): the answer is complete by its length, our side of the connection is closed, and what still comes is
 * thrown away until the body or the connection ends, within the bounds.
 */
export function answerAndHangUp(
  req: IncomingMessage,
  res: ServerResponse,
  answer: ErrorAnswer,
  gathered: OutgoingHttpHeaders,
  clock: Clock,
  bounds: LingerBounds,
): void {
  if (req.httpVersionMajor > 1) {
    // One stream of many: it is closed without an error once it is answered (RFC 9113 section 8.1).
    res.once('finish', () => closeStream(res));
    answerEarly(req, res, answer, gathered);
    return;
  }
  res.setHeader('Connection', 'close');
  const text = writeHead(res, answer, gathered);
  res.flushHeaders();
  // Not `res.end()`: Node would close both sides of the connection.
  res.write(text, () => req.socket.end());
  linger(req, clock, bounds, () => {
    res.end();
    req.socket.destroySoon();
  });
}

/** Throws away what comes, and calls `done` once: at the end of the body or of the connection, or at a bound. */
function linger(req: IncomingMessage, clock: Clock, { ms, bytes }: LingerBounds, done: () => void): void {
  let received = 0;
  let seen = 0;
  const end = (): void => {
    cancelTotal();
    cancelIdle();
    req.off('data', discard).off('end', end).off('close', end).pause();
    done();
  };
  const discard = (chunk: Buffer): void => {
    received += chunk.length;
    if (received > bytes) end();
  };
  const watch = (): (() => void) =>
    clock.after(IDLE_MS, () => {
      if (received === seen) {
        end();
        return;
      }
      seen = received;
      cancelIdle = watch();
    });
  const cancelTotal = clock.after(ms, end);
  let cancelIdle = watch();
  // Explicitly: whoever read the body before has paused it.
  req.on('data', discard).once('end', end).once('close', end).resume();
}

/** Node's HTTP/2 response has the stream below it. */
function closeStream(res: ServerResponse & { readonly stream?: { close(code: number): void } }): void {
  res.stream?.close(constants.NGHTTP2_NO_ERROR);
}

/** Everything before the body, which is the answer. */
function writeHead(res: ServerResponse, { body, headers }: ErrorAnswer, gathered: OutgoingHttpHeaders): string {
  const text = JSON.stringify(body);
  res.statusCode = body.statusCode;
  for (const [name, value] of Object.entries({ ...gathered, ...headers })) {
    if (value !== undefined) res.setHeader(name, value);
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', Buffer.byteLength(text));
  return text;
}
