import { Logger } from '@nestjs/common';
import type { Clock } from '../common/clock.js';
import { nameOf } from '../common/name-of.js';
import type { SessionStatus, SessionStore } from './session-store.js';

/** How often messages are looked for whose session is over. */
const EVERY_MS = 30_000;

/** Sessions that are served at a time. */
const AT_A_TIME = 200;

/**
 * Sessions that are over and have messages left, which nobody can send any more. Those that end here are known at once;
 * those that another process ended, or that were sent to at the last moment, are found by looking.
 */
export class StrandedLanes {
  private lanes = new Map<string, SessionStatus>();
  private added = new Map<string, SessionStatus>();
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
    this.lanes.set(sessionId, status);
    this.added.set(sessionId, status);
    this.found();
  }

  start(): Promise<void> {
    return this.look();
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  private async look(): Promise<void> {
    this.added = new Map();
    try {
      const stranded = await this.store.stranded(this.channel, AT_A_TIME);
      this.lanes = new Map([...stranded.map(({ id, status }) => [id, status] as const), ...this.added]);
      if (this.lanes.size > 0) this.found();
    } catch (error) {
      const name = nameOf(error);
      new Logger('Msgapp').warn(`Messages of sessions that are over could not be looked for: ${name}.`);
    }
    if (!this.stopped) this.cancel = this.clock.after(EVERY_MS, () => void this.look());
  }
}
