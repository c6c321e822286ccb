import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { Clock } from '../common/clock.js';
import { type AdapterResponse, EventStreams } from '../http/event-streams.js';
import { HookInbox } from './hooks/hook-inbox.js';
import { justArrived, screenMessageView } from './phones/screen-view.js';
import { SandboxFeed } from './sandbox-feed.js';
import { SandboxScanner } from './sandbox-scanner.js';

/** How long changes are gathered before an event is sent to a client, in milliseconds. */
const GATHER_MS = 200;

/**
 * Streams the events of this process's sandbox: each message that arrives, `codes` when the codes or the linked numbers change,
 * `changed` when the client should read the phones' messages again, and `hooks` when webhooks have been called.
 */
@Injectable()
export class SandboxLive {
  constructor(
    private readonly feed: SandboxFeed,
    private readonly scanner: SandboxScanner,
    private readonly hooks: HookInbox,
    private readonly streams: EventStreams,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the event stream of one client.
   * @param response the response that carries the events
   */
  stream(response: AdapterResponse): Observable<MessageEvent> {
    return this.streams.stream(response, (client) => {
      const waiting = new Map<string, () => void>();
      const sendSoon = (type: string) => {
        if (waiting.has(type)) return;
        const cancel = this.clock.after(GATHER_MS, () => {
          waiting.delete(type);
          client.next({ type, data: {} });
        });
        waiting.set(type, cancel);
      };
      const stops = [
        this.feed.listenToChanges(() => sendSoon('changed')),
        this.hooks.listen(() => sendSoon('hooks')),
        () => {
          for (const cancel of waiting.values()) cancel();
        },
        this.feed.listen((message) => client.next({ data: screenMessageView(justArrived(message)) })),
        this.scanner.listen(() => client.next({ type: 'codes', data: { count: this.scanner.codes.length } })),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    });
  }
}
