import { Logger } from '@nestjs/common';
import type { Clock } from '../common/clock.js';
import { nameOf } from '../common/name-of.js';
import type { SessionStatus, SessionStore } from './session-store.js';

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
export class StrandedLanes {
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
