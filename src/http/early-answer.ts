import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants } from 'node:http2';
import type { Clock } from '../common/clock.js';
import type { ErrorAnswer } from './error-answer.js';

/** How long, in milliseconds, and how many bytes we go on receiving for after an answer that cuts an upload. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 1_048_576;

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
 * The same while the client is still sending, and hangs up. A socket that is closed with unread bytes resets the
 * connection, and the reset can overtake the answer (RFC 9112 section 9.6): so the answer is complete by its length
 * first, and what still comes is thrown away until the client has understood. A stubborn one is cut off all the same.
 */
export function answerAndHangUp(
  req: IncomingMessage,
  res: ServerResponse,
  answer: ErrorAnswer,
  gathered: OutgoingHttpHeaders,
  clock: Clock,
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
  res.write(text);

  let budget = LINGER_BYTES;
  const hangUp = (): void => {
    cancel();
    req.off('data', discard).pause();
    res.end();
  };
  const discard = (chunk: Buffer): void => {
    budget -= chunk.length;
    if (budget < 0) hangUp();
  };
  const cancel = clock.after(LINGER_MS, hangUp);
  // Explicitly: whoever read the body before has paused it.
  req.on('data', discard).once('end', hangUp).once('close', hangUp).resume();
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
