import { Injectable, type MessageEvent } from '@nestjs/common';
import type { Observable, Subscriber } from 'rxjs';
import { Clock } from '../../../common/clock.js';
import { type AdapterResponse, EventStreams } from '../../../http/event-streams.js';
import { LedgerChecks } from './ledger-checks.js';

/**
 * How often the state is read, in milliseconds, and how often at most. The number is limited, so that no stream outlives an
 * access token.
 */
const LOOK_MS = 1000;
const MAX_LOOKS = 600;

/** Streams the progress of the check of the books, whatever process runs it: each change, up to the end of the check. */
@Injectable()
export class LedgerCheckStream {
  constructor(
    private readonly checks: LedgerChecks,
    private readonly streams: EventStreams,
    private readonly clock: Clock,
  ) {}

  open(response: AdapterResponse): Observable<MessageEvent> {
    return this.streams.stream(response, (client) => this.follow(client));
  }

  private follow(client: Subscriber<MessageEvent>): () => void {
    let cancel: () => void = () => undefined;
    let sent = '';
    let looks = 0;
    const look = async () => {
      // If the storage does not answer, the client waits.
      const view = await this.checks.last().catch(() => undefined);
      if (client.closed) return;
      const text = view && JSON.stringify(view);
      if (text !== undefined && text !== sent) client.next({ type: 'check', data: text });
      sent = text ?? sent;
      if ((view && view.state !== 'running') || ++looks >= MAX_LOOKS) client.complete();
      else cancel = this.clock.after(LOOK_MS, () => void look());
    };
    void look();
    return () => cancel();
  }
}
