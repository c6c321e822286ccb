import { StorageUnavailableError } from '../../../common/errors.js';
import { Lanes } from '../../../common/lanes.js';
import { takeTogether } from '../../../common/take-together.js';
import { PolicyStore, type RecordStep } from '../../../outbox/policy-store.js';
import type { SeenRecords } from '../../../outbox/send-policy.js';
import type { Executor } from '../engine/executor.js';
import { type AnyStep, changeRecords, purgeRecords, type StepOutcome } from './policy-records.js';

interface Waiting {
  readonly step: AnyStep;
  readonly settle: (outcome: Exclude<StepOutcome, { busy: unknown }>) => void;
  readonly fail: (error: unknown) => void;
}

/** The most steps that share a transaction, and keys over all of them: PostgreSQL keeps a lock in memory for a new one. */
const TOGETHER = 256;
const KEYS_TOGETHER = 512;

/** The part of the pool whose connections may wait for records that other transactions hold. */
const WAITING_SHARE = 0.25;

/**
 * Records of guards in SQL. Steps that arrive together share one transaction, which waits for no lock; one runs at a time.
 * A step whose record another transaction holds goes to a second lane: the steps on one record share a transaction there
 * that waits, on a bounded part of the pool. So a held record delays no step on other records.
 */
export class TypeormPolicyStore extends PolicyStore {
  private readonly waiting: Waiting[] = [];
  private working = false;
  private readonly held: Lanes<Waiting & { readonly record: string }>;

  constructor(private readonly executor: Executor) {
    super();
    const most = Math.max(1, Math.floor(executor.connections * WAITING_SHARE));
    this.held = new Lanes(most, (queue) => this.perform(nextBatch(queue), 'wait'));
  }

  override change<T>(
    keys: readonly string[],
    step: (seen: SeenRecords) => RecordStep<T>,
    first: 'lock' | 'look' = 'lock',
  ): Promise<T> {
    return new Promise<T>((done, fail) => {
      let result: T | undefined;
      const run = (seen: SeenRecords) => {
        const { result: given, changes } = step(seen);
        result = given;
        return changes;
      };
      const settle = (outcome: Exclude<StepOutcome, { busy: unknown }>) => {
        if ('error' in outcome) fail(outcome.error);
        else done(result as T); // the step has run, and what it gives may be undefined
      };
      this.waiting.push({ step: { keys, first, run }, settle, fail });
      this.schedule();
    });
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeRecords(this.executor.dialect, now, limit));
  }

  private schedule(): void {
    if (this.working || this.waiting.length === 0) return;
    this.working = true;
    setImmediate(async () => {
      await this.perform(nextBatch(this.waiting), 'skip');
      this.working = false;
      this.schedule();
    });
  }

  private async perform(batch: readonly Waiting[], ifLocked: 'wait' | 'skip'): Promise<void> {
    const steps = batch.map(({ step }) => step);
    try {
      const outcomes = await this.executor.write(() => changeRecords(this.executor.dialect, steps, ifLocked));
      this.settle(batch, outcomes);
    } catch (error) {
      if (batch.length === 1 || error instanceof StorageUnavailableError) {
        for (const { fail } of batch) fail(error);
        return;
      }
      // One bad step must not take the others of its batch with it; nothing of the batch was written.
      for (const item of batch) await this.perform([item], ifLocked);
    }
  }

  private settle(batch: readonly Waiting[], outcomes: readonly StepOutcome[]): void {
    const held = batch.flatMap((item, index) => {
      const outcome = outcomes[index] ?? { error: new Error('There is no outcome of this step.') };
      if ('busy' in outcome) return outcome.busy.slice(0, 1).map((record) => ({ ...item, record }));
      item.settle(outcome);
      return [];
    });
    this.held.add(held, ({ record }) => record);
  }
}

/** Takes from a queue what goes into one transaction. */
function nextBatch<W extends Waiting>(queue: W[]): W[] {
  return takeTogether(queue, ({ step }) => step.keys.length, KEYS_TOGETHER, TOGETHER);
}
