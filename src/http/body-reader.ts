import { AsyncResource } from 'node:async_hooks';
import type { Readable } from 'node:stream';

/** What became of a body: its bytes, or too many of them. A body that breaks off says nothing, its client is gone. */
export interface BodySink {
  complete(bytes: Buffer): void;
  tooLarge(): void;
}

/**
 * Collects a body of at most `limit` bytes. Past the limit it stops at once and leaves the rest in the socket. The
 * answer stops it for good and forgets what was read.
 */
export function readBody(body: Readable, limit: number, sink: BodySink): () => void {
  // The sink goes on in the request's own async context (AsyncLocalStorage, tracing), not in the socket's.
  const context = new AsyncResource('MessagingBody');
  let chunks: Buffer[] = [];
  let size = 0;

  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    stop();
    context.runInAsyncScope(sink.tooLarge, sink);
  };
  const onEnd = (): void => {
    const [only] = chunks;
    const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
    stop();
    context.runInAsyncScope(sink.complete, sink, bytes);
  };
  const stop = (): void => {
    body.off('data', onData).off('end', onEnd).pause();
    chunks = [];
  };

  body.on('data', onData).on('end', onEnd).on('error', ignore);
  return stop;
}

/** A client that hangs up while it sends; the exchange ends with the connection. */
function ignore(): void {}
