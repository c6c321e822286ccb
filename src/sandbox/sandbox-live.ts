import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type AdapterResponse, EventStreams } from '../http/event-streams.js';
import { phoneMessageView } from './phone-message-view.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** What happens in the sandbox of this process from now on, as events: messages, and `codes` when there are others to scan. */
@Injectable()
export class SandboxLive {
  constructor(
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly streams: EventStreams,
  ) {}

  /** For one client; `response` is the one that carries them. */
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
