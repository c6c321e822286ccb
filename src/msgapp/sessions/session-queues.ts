import type { Clock } from '../../common/clock.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import type { SessionStatus } from '../../events/session-status.js';
import type { Link } from '../msgapp-transport.js';
import type { Pace } from '../sending/pace.js';
import type { SessionStore } from './session-store.js';

interface Lane {
  /** The connection that is sending a message now. */
  busy: Link | undefined;
  /** The end of the pause, on the clock's `elapsed`. */
  restsUntil: number;
}

/** Decides which sessions may send now: one message at a time per connection, with a pause after each. */
export class SessionQueues {
  private readonly lanes = new Map<string, Lane>();

  /** @param ready called when a pause is over */
  constructor(
    private readonly clock: Clock,
    private readonly pace: Pace,
    private readonly ready: () => void,
  ) {}

  /** Whether a message may be sent on a session's connection now. */
  isFree(sessionId: string, link: Link): boolean {
    const lane = this.lanes.get(sessionId);
    return lane === undefined || (lane.busy !== link && lane.restsUntil <= this.clock.elapsed());
  }

  /** Called when a message is being sent. */
  begin(sessionId: string, link: Link): void {
    this.lanes.set(sessionId, { busy: link, restsUntil: this.clock.elapsed() });
  }

  /** Called when the connection has answered. Starts a pause unless nothing was sent. */
  end(sessionId: string, link: Link, { rest }: { readonly rest: boolean }): void {
    const lane = this.lanes.get(sessionId);
    if (lane?.busy !== link) return;
    lane.busy = undefined;
    const pause = rest ? this.pace.pause() : 0;
    lane.restsUntil = this.clock.elapsed() + pause;
    if (pause > 0) this.clock.after(pause, this.ready);
  }

  /** Removes a session that this process no longer has. */
  forget(sessionId: string): void {
    this.lanes.delete(sessionId);
  }
}

/** The interval of the search for messages whose session is over, in milliseconds. */
const EVERY_MS = 30_000;

/** The interval between two pages of one search, in milliseconds. */
const NEXT_MS = 1000;

/** How many deliveries a query reads. */
const LOOKED_AT = 1000;

/** How many sessions are served at a time. */
const AT_A_TIME = 200;

/**
 * Finds sessions that are over and still have messages, which nobody can deliver. Sessions that end in this process are known at
 * once. To find sessions that ended in another process, or that got a message at the last moment, it pages through the lanes that
 * have messages.
 */
export class OrphanedQueues {
  private lanes = new Map<string, SessionStatus>();
  /** The sessions that the current search has found. At its end they replace the served sessions. */
  private seen = new Map<string, SessionStatus>();
  private after = '';
  private cancel: () => void = () => undefined;
  private stopped = false;

  /** @param found called if there are any such sessions */
  constructor(
    private readonly channel: string,
    private readonly store: SessionStore,
    private readonly clock: Clock,
    private readonly found: () => void,
  ) {}

  get ids(): Iterable<string> {
    return this.lanes.keys();
  }

  /** Returns the final status of a session, or undefined if this process does not know that it has ended. */
  statusOf(sessionId: string): SessionStatus | undefined {
    return this.lanes.get(sessionId);
  }

  add(sessionId: string, status: SessionStatus): void {
    this.serve(sessionId, status);
    this.found();
  }

  start(): Promise<void> {
    return this.look();
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  private serve(sessionId: string, status: SessionStatus): void {
    this.lanes.set(sessionId, status);
    this.seen.set(sessionId, status);
  }

  private async look(): Promise<void> {
    if (this.after === '') this.seen = new Map();
    try {
      const { items, next } = await this.store.stranded(this.channel, this.after, LOOKED_AT);
      for (const { id, status } of items) this.serve(id, status);
      this.after = this.seen.size < AT_A_TIME ? (next ?? '') : '';
      if (this.after === '') this.lanes = this.seen;
      if (this.lanes.size > 0) this.found();
    } catch (error) {
      this.after = '';
      const sentence = `The search for messages of ended sessions failed: ${nameOf(error)}.`;
      faultLog('Msgapp', this.clock).warn(sentence, { code: faultCode(error) });
    }
    const pause = this.after === '' ? EVERY_MS : NEXT_MS;
    if (!this.stopped) this.cancel = this.clock.after(pause, () => void this.look());
  }
}
