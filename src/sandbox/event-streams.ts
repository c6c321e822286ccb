import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type MessageEvent } from '@nestjs/common';
import { Observable, type Subscriber } from 'rxjs';
import { Clock } from '../common/clock.js';
import { phoneMessageView } from './phone-message-view.js';
import { SandboxFeed } from './sandbox-feed.js';

/** A comment this often, in milliseconds, keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;

/** How soon, in milliseconds, a browser comes back after a broken stream. */
const RECONNECT_MS = 2_000;

/** The live streams of one sandbox. They end when the application does, so that none holds up `app.close()`. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Map<Subscriber<MessageEvent>, ServerResponse>();
  private closing = false;

  constructor(
    private readonly feed: SandboxFeed,
    private readonly clock: Clock,
  ) {}

  /** What the phones receive from now on, as events for one client; `response` is the one that carries them. */
  stream(response: ServerResponse): Observable<MessageEvent> {
    return new Observable((subscriber) => {
      if (this.closing) return void subscriber;
      this.open.set(subscriber, response);
      subscriber.next({ comment: 'sandbox', retry: RECONNECT_MS });
      const stopListening = this.feed.listen((message) => subscriber.next({ data: phoneMessageView(message) }));
      const stopBeating = this.beat(subscriber);
      return () => {
        stopListening();
        stopBeating();
        this.open.delete(subscriber);
      };
    });
  }

  /** Ends every stream; a client that has not taken the end of its own by the next turn of the loop is cut off. */
  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    const open = [...this.open];
    for (const [subscriber] of open) subscriber.complete();
    await setImmediate();
    for (const [, response] of open) {
      if (!response.writableFinished) response.destroy();
    }
  }

  private beat(subscriber: Subscriber<MessageEvent>): () => void {
    let cancel = (): void => {};
    const wait = () => {
      cancel = this.clock.after(HEARTBEAT_MS, () => {
        subscriber.next({ comment: 'heartbeat' });
        wait();
      });
    };
    wait();
    return () => cancel();
  }
}
