import type { Author } from '../../accounts/audit/audit-entry.js';
import type { Clock } from '../../common/clock.js';
import { pause, STORAGE_RETRY_MS } from '../../common/concurrency/async.js';
import { faultCode, faultLog, nameOf } from '../../common/log.js';
import type { SessionStatus } from '../../events/session-status.js';
import type { SessionLease, StoredSession } from './session-records.js';
import type { SessionStore } from './session-store.js';

/** Callbacks of a session's steps. They must return at once. */
interface StepHooks {
  /** Whether to retry a step that the database did not accept. */
  readonly continues: () => boolean;
  /** A step is stored. */
  readonly taken: (reason: string, at: number) => void;
  /** The session belongs to another process. */
  readonly refused: () => void;
}

/** The steps of one session under one lease. Each step is stored before it is shown. */
export class SessionSteps {
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

  /** The stored status. */
  get status(): SessionStatus {
    return this.current.status;
  }

  /** The linked number. It is known here from the scan on. */
  get number(): string | undefined {
    return this.current.number;
  }

  /** Records the number that scanned a code. */
  linked(number: string): void {
    this.current = { ...this.current, number };
  }

  /** Stores a step. Resolves to true when it is stored. Retries while the database is unavailable. */
  async take(to: SessionStatus, reason: string, by?: Author): Promise<boolean> {
    const { number } = this;
    do {
      try {
        const step = {
          to,
          reason,
          at: this.clock.now(),
          ...(number === undefined ? {} : { number }),
          ...(by && { by }),
        };
        const isTaken = await this.store.move(this.lease, step);
        if (isTaken) {
          this.current = { status: to, number };
          this.hooks.taken(reason, step.at);
        } else this.hooks.refused();
        return isTaken;
      } catch (error) {
        this.warn(`could not be stored as ${to}`, error);
      }
      if (this.hooks.continues()) await pause(this.clock, STORAGE_RETRY_MS);
    } while (this.hooks.continues());
    return false;
  }

  /** Stores the status of a session that is given up, and releases the lease. */
  async leave(reason: string): Promise<void> {
    if (this.status === 'created') await this.take('expired', reason);
    if (this.status === 'connected') await this.take('reconnecting', reason);
    await this.store.release(this.lease).catch((error) => this.warn('could not be released', error));
  }

  private warn(what: string, error: unknown): void {
    const { sessionId } = this.lease;
    const fields = { code: faultCode(error), sessionId };
    faultLog('Msgapp', this.clock).warn(`A session ${what}: ${nameOf(error)}.`, fields, ` ${sessionId}`);
  }
}
