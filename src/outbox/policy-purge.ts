import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { PolicyStore } from './policy-store.js';
import { Purge } from './purge.js';

/** Forgets the records of guards that have expired. */
@Injectable()
export class PolicyPurge extends Purge {
  constructor(
    private readonly store: PolicyStore,
    clock: Clock,
  ) {
    super('records of guards', clock);
  }

  protected override forget(now: number, limit: number): Promise<number> {
    return this.store.purge(now, limit);
  }
}
