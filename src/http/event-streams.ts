import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Clock } from '../common/clock.js';

/** Interval of comments in milliseconds, which keep proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;

/** Milliseconds after which a browser reconnects a broken stream. */
const RECONNECT_MS = 2_000;

/** Most characters that are buffered for a client that does not read; above, its connection is dropped. */
export const MOST_WAITING = 1024 * 1024;

/** Express answers with Node's own response, Fastify with a wrapper around it. */
export type AdapterResponse = ServerResponse | { readonly raw: ServerResponse };

/** Sends events to one client until the returned function is called. */
export type StreamSource = (client: Subscriber<MessageEvent>) => () => void;

/** Streams of server-sent events. They end with the application, so that none delays `app.close()`. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Map<Subscriber<MessageEvent>, ServerResponse>();
  private closing = false;

  constructor(private readonly clock: Clock) {}

  /** The events of `source` for one client; `response` is the response that carries them. */
  stream(response: AdapterResponse, source: StreamSource): Observable<MessageEvent> {
    return new Observable((client) => {
      if (this.closing) return void client;
      this.open.set(client, 'raw' in response ? response.raw : response);
      client.next({ comment: 'open', retry: RECONNECT_MS });
      const stopSource = source(client);
      const stopBeating = this.beat(client);
      return () => {
        stopSource();
        stopBeating();
        this.open.delete(client);
      };
    });
  }

  /** Ends every stream. A client whose response is not finished by the next turn of the event loop is disconnected. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    const open = [...this.open];
    for (const [client] of open) client.complete();
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
