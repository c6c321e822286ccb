import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Clock } from '../common/clock.js';

/** A comment this often, in milliseconds, keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;

/** How soon, in milliseconds, a browser comes back after a broken stream. */
const RECONNECT_MS = 2_000;

/** Characters that may wait for a client that does not read; past them its connection is dropped. */
export const MOST_WAITING = 1024 * 1024;

/** Express answers with Node's own response, Fastify with a wrapper around it. */
export type AdapterResponse = ServerResponse | { readonly raw: ServerResponse };

/** Gives one client its events until the answer is called. */
export type StreamSource = (client: Subscriber<MessageEvent>) => () => void;

/** Streams of server-sent events. They end when the application does, so that none holds up `app.close()`. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Map<Subscriber<MessageEvent>, ServerResponse>();
  private closing = false;

  constructor(private readonly clock: Clock) {}

  /** What `source` gives, as events for one client; `response` is the one that carries them. */
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

  /** Ends every stream; a client that has not taken the end of its own by the next turn of the loop is cut off. */
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
