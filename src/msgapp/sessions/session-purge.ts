import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Purge } from '../../outbox/purge.js';
import { SessionStore } from './session-store.js';

/** How long a session that has ended is kept: a quarter, so that whoever reads the bill of one can see what became of it. */
const KEEP_MS = 90 * 86_400_000;

/** Each takes its steps with it, up to 200. */
const AT_A_TIME = 100;

/** Forgets sessions that ended long ago. */
@Injectable()
export class SessionPurge extends Purge {
  constructor(
    private readonly store: SessionStore,
    clock: Clock,
  ) {
    super('sessions', clock, AT_A_TIME);
  }

  protected override forget(now: number, limit: number): Promise<number> {
    return this.store.purge(now - KEEP_MS, limit);
  }
}
