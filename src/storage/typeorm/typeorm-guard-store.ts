import type { SeenRecords } from '../../outbox/guard.js';
import { GuardStore, type RecordStep } from '../../outbox/guard-store.js';
import type { Executor } from './executor.js';
import { changeRecords, purgeRecords } from './record-operations.js';

/** Records of guards in SQL. */
export class TypeormGuardStore extends GuardStore {
  constructor(private readonly executor: Executor) {
    super();
  }

  override change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    return this.executor.write(() => changeRecords(this.executor.dialect, keys, step));
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeRecords(this.executor.dialect, now, limit));
  }
}
