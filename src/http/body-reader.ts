import { AsyncResource } from 'node:async_hooks';
import type { Readable } from 'node:stream';

/** What a body's bytes are given to, in their order. What it throws refuses the request. */
export interface BodyBytes {
  write(bytes: Buffer): void;
  /** The body, when all of it was written. */
  end(): unknown;
}

/** What became of a body. A body that breaks off says nothing, its client is gone. */
export interface BodySink {
  complete(body: unknown): void;
  refused(error: unknown): void;
  tooLarge(): void;
}

/** Pieces are joined until they are so large or so many: Node makes an object of hundreds of bytes for a piece of one byte. */
const JOINED_BYTES = 65_536;
const JOINED_PIECES = 1024;

/** From so many bytes on, other requests get their turn between the parsing of a body and what its handler does with it. */
const LARGE_BYTES = 1_048_576;

/**
 * Reads a body of at most `limit` bytes. When the body is refused or passes the limit, reading stops at once and the rest stays
 * in the socket. The answer stops the reading for good.
 */
export function readBody(body: Readable, limit: number, into: BodyBytes, sink: BodySink): () => void {
  // The sink goes on in the request's own async context (AsyncLocalStorage, tracing), not in the socket's.
  const context = new AsyncResource('MessagingBody');
  let pieces: Buffer[] = [];
  let joined = 0;
  let size = 0;

  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) {
      stop();
      context.runInAsyncScope(sink.tooLarge, sink);
      return;
    }
    joined += chunk.length;
    if (pieces.push(chunk) >= JOINED_PIECES || joined >= JOINED_BYTES) attempt(write);
  };
  const onEnd = (): void => {
    const whole = attempt(() => {
      write();
      return { body: into.end() };
    });
    if (whole === undefined) return;
    stop();
    if (size < LARGE_BYTES) context.runInAsyncScope(sink.complete, sink, whole.body);
    else setImmediate(() => context.runInAsyncScope(sink.complete, sink, whole.body));
  };
  const write = (): void => {
    const [only] = pieces;
    const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, joined);
    pieces = [];
    joined = 0;
    into.write(bytes);
  };
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      stop();
      context.runInAsyncScope(sink.refused, sink, error);
      return undefined;
    }
  };
  const stop = (): void => {
    body.off('data', onData).off('end', onEnd).pause();
    pieces = [];
  };

  body.on('data', onData).on('end', onEnd).on('error', ignore);
  return stop;
}

/** A client that hangs up while it sends; the exchange ends with the connection. */
function ignore(): void {}
