import type { SeenRecords } from '../../outbox/guard.js';
import { GuardStore, type RecordStep } from '../../outbox/guard-store.js';
import type { Executor } from './executor.js';
import { type AnyStep, changeRecords, purgeRecords, type StepOutcome } from './record-operations.js';

interface Waiting {
  readonly step: AnyStep;
  readonly settle: (outcome: StepOutcome) => void;
  readonly fail: (error: unknown) => void;
}

/** The most steps that share their statements. */
const TOGETHER = 256;

/** Records of guards in SQL. */
export class TypeormGuardStore extends GuardStore {
  private waiting: Waiting[] = [];

  constructor(private readonly executor: Executor) {
    super();
  }

  override change<T>(keys: readonly string[], step: (seen: SeenRecords) => RecordStep<T>): Promise<T> {
    return new Promise<T>((done, fail) => {
      let result: T | undefined;
      const run = (seen: SeenRecords) => {
        const { result: given, changes } = step(seen);
        result = given;
        return changes;
      };
      const settle = (outcome: StepOutcome) => {
        if ('error' in outcome) fail(outcome.error);
        else done(result as T); // the step has run, and what it gives may be undefined
      };
      this.waiting.push({ step: { keys, run }, settle, fail });
      if (this.waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeRecords(this.executor.dialect, now, limit));
  }

  /** What waits at this moment goes together, unless one row that somebody holds could make all of it wait. */
  private flush(): void {
    const most = this.executor.dialect.lock('r', 'wait') === '' ? TOGETHER : 1;
    const all = this.waiting;
    this.waiting = [];
    for (let at = 0; at < all.length; at += most) void this.perform(all.slice(at, at + most));
  }

  private async perform(batch: readonly Waiting[]): Promise<void> {
    const steps = batch.map(({ step }) => step);
    try {
      const outcomes = await this.executor.write(() => changeRecords(this.executor.dialect, steps));
      for (const [index, outcome] of outcomes.entries()) batch[index]?.settle(outcome);
    } catch (error) {
      for (const { fail } of batch) fail(error);
    }
  }
}
