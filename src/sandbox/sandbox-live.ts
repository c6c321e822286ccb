import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Clock } from '../common/clock.js';
import { type AdapterResponse, EventStreams } from '../http/event-streams.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxScanner } from './sandbox-scanner.js';
import { justArrived, screenMessageView } from './screen-view.js';

/** How long changes are gathered before a client is told, in milliseconds. */
const GATHER_MS = 200;

/**
 * Streams the events of this process's sandbox: each message that arrives, `codes` whenever the codes or the linked numbers
 * change, and `changed` when what the phones show is to be read again.
 */
@Injectable()
export class SandboxLive {
  constructor(
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly streams: EventStreams,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the event stream of one client.
   * @param response the response that carries the events
   */
  stream(response: AdapterResponse): Observable<MessageEvent> {
    return this.streams.stream(response, (client) => {
      let cancel: (() => void) | undefined;
      const tell = () => {
        cancel = undefined;
        client.next({ type: 'changed', data: {} });
      };
      const stops = [
        this.feed.listenToChanges(() => {
          cancel ??= this.clock.after(GATHER_MS, tell);
        }),
        () => cancel?.(),
        this.feed.listen((message) => client.next({ data: screenMessageView(justArrived(message)) })),
        this.scanner.listen(() => client.next({ type: 'codes', data: { count: this.scanner.codes.length } })),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    });
  }
}
