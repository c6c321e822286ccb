import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  applyDecorators,
  type BeforeApplicationShutdown,
  Header,
  Injectable,
  type MessageEvent,
  StreamableFile,
} from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Clock } from '../common/clock.js';

/** The interval of comments that keep proxies from closing an idle stream, in milliseconds. */
export const HEARTBEAT_MS = 15_000;

/** The milliseconds after which a browser reconnects a broken stream. */
export const RECONNECT_MS = 2_000;

/**
 * The maximum number of characters that are buffered for a client that does not read. If there are more, its connection is dropped.
 */
export const MAX_WAITING = 1024 * 1024;

/**
 * Forbids transformations of a streamed answer (RFC 9111 section 5.2.2.6). Otherwise a host's `compression()` would
 * delay the events until it has enough to compress, and the client would see nothing for minutes.
 */
export const NO_TRANSFORM = 'no-transform';

/** The headers of a stream of events. Nest sets the same headers for a handler with `@Sse`. */
export function StreamHeaders(): MethodDecorator {
  return applyDecorators(Header('Cache-Control', `no-store, ${NO_TRANSFORM}`), Header('X-Accel-Buffering', 'no'));
}

/** Express answers with Node's own response, Fastify with a wrapper around it. */
export type AdapterResponse = ServerResponse | { readonly raw: ServerResponse };

/** Sends events to one client until the returned function is called. */
type StreamSource = (client: Subscriber<MessageEvent>) => () => void;

/** A stream that a client is reading. */
interface OpenStream {
  /** Aborted when the stream is over, whether the client, the source or the application has ended it. */
  readonly signal: AbortSignal;
  /** Ends the stream. A client that has not received the rest a second later is disconnected. */
  end(): void;
}

/** How long a client may take to receive the rest of a stream that was ended, in milliseconds. */
const REST_MS = 1_000;

/** Makes streams of server-sent events. They end with the application, so that none delays `app.close()`. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  /** The response of each open stream, by the function that ends the stream. */
  private readonly open = new Map<() => void, ServerResponse>();
  private closing = false;

  constructor(private readonly clock: Clock) {}

  /** Streams the events of `source` to one client. `response` is the response that carries them. */
  stream(response: AdapterResponse, source: StreamSource): Observable<MessageEvent> {
    return new Observable((client) => {
      if (this.closing) return void client;
      const end = () => client.complete();
      this.open.set(end, rawResponse(response));
      client.next({ comment: 'open', retry: RECONNECT_MS });
      const stopSource = source(client);
      const stopBeating = this.beat(client);
      return () => {
        stopSource();
        stopBeating();
        this.open.delete(end);
      };
    });
  }

  /**
   * A stream whose text is read from the source only as fast as the client receives it.
   *
   * @param source the events, as the WHATWG's HTML standard writes them; it ends when the signal of the stream is aborted
   */
  text(response: AdapterResponse, source: (stream: OpenStream) => AsyncIterable<string>): StreamableFile {
    const raw = rawResponse(response);
    const over = new AbortController();
    const end = () => over.abort();
    const stream = {
      signal: over.signal,
      end: () => {
        end();
        this.clock.after(REST_MS, () => raw.destroy());
      },
    };
    const text = Readable.from(source(stream), { objectMode: false });
    this.open.set(end, raw);
    // In HTTP/1, a response that is pipelined behind others gets no event when its connection ends.
    const socket = raw.req.httpVersionMajor === 1 ? raw.req.socket : undefined;
    const close = () => {
      raw.off('close', close);
      socket?.off('close', close);
      this.open.delete(end);
      end();
      text.destroy();
    };
    raw.once('close', close);
    socket?.once('close', close);
    text.once('close', close);
    // If the client has left while the source was being prepared, no event will close the stream.
    if (raw.destroyed || socket?.destroyed) close();
    // The answer to HEAD has no body to wait for.
    if (this.closing || raw.req.method === 'HEAD') end();
    return new StreamableFile(text, { type: 'text/event-stream' });
  }

  /** Ends every stream. A client whose response is not finished by the next turn of the event loop is disconnected. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    const open = [...this.open];
    for (const [end] of open) end();
    await setImmediate();
    for (const [, response] of open) {
      if (!response.writableFinished) response.destroy();
    }
  }

  private beat(client: Subscriber<MessageEvent>): () => void {
    let cancel = (): void => {};
    const wait = () => {
      cancel = this.clock.after(HEARTBEAT_MS, () => {
        client.next({ comment: 'heartbeat' });
        wait();
      });
    };
    wait();
    return () => cancel();
  }
}

/** Node's own response. */
export function rawResponse(response: AdapterResponse): ServerResponse {
  return 'raw' in response ? response.raw : response;
}
