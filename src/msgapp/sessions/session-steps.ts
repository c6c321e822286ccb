import { Logger } from '@nestjs/common';
import type { Clock } from '../../common/clock.js';
import { nameOf } from '../../common/log.js';
import type { SessionLease, SessionStatus, SessionStore, StoredSession } from './session-store.js';

/** How long a step waits for a database that does not answer. */
const PAUSE_MS = 1000;

/** What a session does about its steps. Must return at once. */
export interface StepHooks {
  /** Whether a step that the database did not take is tried again. */
  readonly goesOn: () => boolean;
  /** A step is stored. */
  readonly taken: (reason: string) => void;
  /** The session is not ours any more. */
  readonly refused: () => void;
}

/** The steps of one session under one lease: each is stored, then shown. */
export class SessionSteps {
  private readonly log = new Logger('Msgapp');
  private current: Pick<StoredSession, 'status' | 'number'>;

  constructor(
    stored: StoredSession,
    private readonly lease: SessionLease,
    private readonly store: SessionStore,
    private readonly clock: Clock,
    private readonly hooks: StepHooks,
  ) {
    this.current = stored;
  }

  /** As it is stored. */
  get status(): SessionStatus {
    return this.current.status;
  }

  /** The linked number; known here from the scan on. */
  get number(): string | undefined {
    return this.current.number;
  }

  /** Somebody has scanned a code. */
  linked(number: string): void {
    this.current = { ...this.current, number };
  }

  /** Stores a step; true when that is done. A database that does not answer is asked again. */
  async take(to: SessionStatus, reason: string): Promise<boolean> {
    const { number } = this;
    do {
      try {
        const step = { to, reason, at: this.clock.now(), ...(number === undefined ? {} : { number }) };
        const isTaken = await this.store.move(this.lease, step);
        if (isTaken) {
          this.current = { status: to, number };
          this.hooks.taken(reason);
        } else this.hooks.refused();
        return isTaken;
      } catch (error) {
        this.warn(`could not be stored as ${to}`, error);
      }
      if (this.hooks.goesOn()) await new Promise<void>((resolve) => this.clock.after(PAUSE_MS, resolve));
    } while (this.hooks.goesOn());
    return false;
  }

  /** Stores where a session stands that nobody holds, and gives the lease back. */
  async leave(reason: string): Promise<void> {
    if (this.status === 'created') await this.take('expired', reason);
    if (this.status === 'connected') await this.take('reconnecting', reason);
    await this.store.release(this.lease).catch((error) => this.warn('could not be released', error));
  }

  private warn(what: string, error: unknown): void {
    const name = nameOf(error);
    this.log.warn(`Session ${this.lease.sessionId} ${what}: ${name}.`);
  }
}
