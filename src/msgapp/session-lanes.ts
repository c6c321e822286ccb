import type { Clock } from '../common/clock.js';
import type { Link } from './msgapp-transport.js';
import type { Pace } from './pace.js';

interface Lane {
  /** The connection that a message is on right now. */
  busy: Link | undefined;
  /** By the clock's `elapsed`. */
  restsUntil: number;
}

/** Which sessions may take a message at this moment: one at a time on each connection, and with a rest after each. */
export class SessionLanes {
  private readonly lanes = new Map<string, Lane>();

  /** @param ready called when a rest is over */
  constructor(
    private readonly clock: Clock,
    private readonly pace: Pace,
    private readonly ready: () => void,
  ) {}

  /** Whether a message may go out on a session's connection now. */
  isFree(sessionId: string, link: Link): boolean {
    const lane = this.lanes.get(sessionId);
    return lane === undefined || (lane.busy !== link && lane.restsUntil <= this.clock.elapsed());
  }

  /** A message goes out. */
  begin(sessionId: string, link: Link): void {
    this.lanes.set(sessionId, { busy: link, restsUntil: this.clock.elapsed() });
  }

  /** The connection has answered; with a rest, unless nothing was sent. */
  end(sessionId: string, link: Link, { rest }: { readonly rest: boolean }): void {
    const lane = this.lanes.get(sessionId);
    if (lane?.busy !== link) return;
    lane.busy = undefined;
    const pause = rest ? this.pace.pause() : 0;
    lane.restsUntil = this.clock.elapsed() + pause;
    if (pause > 0) this.clock.after(pause, this.ready);
  }

  /** The session is here no more. */
  forget(sessionId: string): void {
    this.lanes.delete(sessionId);
  }
}
