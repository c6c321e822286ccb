import { Logger } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { nameOf } from '../../common/log.js';
import type { Link } from '../msgapp-transport.js';
import type { RateLimiter } from '../pace.js';
import type { SessionStatus, SessionStore } from './session-store.js';

interface Lane {
  /** The connection that a message is on right now. */
  busy: Link | undefined;
  /** By the clock's `elapsed`. */
  restsUntil: number;
}

/** Which sessions may take a message at this moment: one at a time on each connection, and with a rest after each. */
export class SessionQueues {
  private readonly lanes = new Map<string, Lane>();

  /** @param ready called when a rest is over */
  constructor(
    private readonly clock: Clock,
    private readonly pace: RateLimiter,
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

/** How often messages are looked for whose session is over. */
const EVERY_MS = 30_000;

/** How soon the next lanes are looked at, until all have been. */
const NEXT_MS = 1000;

/** Deliveries whose lanes are looked at in one query. */
const LOOKED_AT = 1000;

/** Sessions that are served at a time. */
const AT_A_TIME = 200;

/**
 * Sessions that are over and have messages left, which nobody can send any more. Those that end here are known at once;
 * those that another process ended, or that were sent to at the last moment, are found by looking through the lanes that
 * have messages, some at a time.
 */
export class OrphanedQueues {
  private lanes = new Map<string, SessionStatus>();
  /** Those of this way through the lanes; at its end they are all that are served. */
  private seen = new Map<string, SessionStatus>();
  private after = '';
  private cancel: () => void = () => undefined;
  private stopped = false;

  /** @param found called when there are any */
  constructor(
    private readonly channel: string,
    private readonly store: SessionStore,
    private readonly clock: Clock,
    private readonly found: () => void,
  ) {}

  get ids(): Iterable<string> {
    return this.lanes.keys();
  }

  /** How a session ended; undefined when it has not, as far as is known here. */
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
      const name = nameOf(error);
      new Logger('Msgapp').warn(`Messages of sessions that are over could not be looked for: ${name}.`);
    }
    const pause = this.after === '' ? EVERY_MS : NEXT_MS;
    if (!this.stopped) this.cancel = this.clock.after(pause, () => void this.look());
  }
}
