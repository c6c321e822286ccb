import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type AdapterResponse, EventStreams } from '../http/event-streams.js';
import { phoneMessageView } from './phone-message-view.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** Streams the events of this process's sandbox: each message, and `codes` whenever the set of scannable codes changes. */
@Injectable()
export class SandboxLive {
  constructor(
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly streams: EventStreams,
  ) {}

  /**
   * Returns the event stream of one client.
   * @param response the response that carries the events
   */
  stream(response: AdapterResponse): Observable<MessageEvent> {
    return this.streams.stream(response, (client) => {
      const stops = [
        this.feed.listen((message) => client.next({ data: phoneMessageView(message) })),
        this.scanner.listen(() => client.next({ type: 'codes', data: { count: this.scanner.codes.length } })),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    });
  }
}
