import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Purge } from '../../outbox/purge.js';
import { SessionStore } from './session-store.js';

/** How long an ended session is kept, in milliseconds: a quarter, so that a bill can be checked against it. */
const KEEP_MS = 90 * 86_400_000;

/** Sessions deleted per transaction; each has up to 200 steps. */
const AT_A_TIME = 100;

/** Deletes sessions that ended long ago. */
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
