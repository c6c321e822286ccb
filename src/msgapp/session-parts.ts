import type { Clock } from '../common/clock.js';
import type { LinkEvent, MsgappTransport, SessionTiming } from './msgapp-transport.js';
import type { SessionStore } from './session-store.js';

/** What a session works with. */
export interface SessionParts {
  readonly transport: MsgappTransport;
  readonly store: SessionStore;
  readonly clock: Clock;
  /** In [0, 1), for jitter. */
  readonly random: () => number;
  readonly timing: SessionTiming;
}

/** Who is told what happens to a session. Must return at once. */
export interface SessionObserver<S> {
  /** It took a step, which is stored. */
  moved(session: S, reason: string): void;
  /** Whether it can send may have changed; without a connection its code is worth nothing either. */
  turned(session: S): void;
  /** A connection of its said something. */
  heard(session: S, event: LinkEvent): void;
  /** It is over, or another process's now. */
  gone(session: S): void;
}
