import { Batcher, EachTurn } from '../../common/concurrency/batcher.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { IfLocked } from '../../storage/dialect.js';
import type { Executor } from '../../storage/engine/executor.js';
import { type AnyStep, changeRecords, purgeRecords, type StepOutcome } from './policy-records.js';
import { PolicyStore, type RecordStep } from './policy-store.js';
import type { SeenRecords } from './send-policy.js';

type Settled = Exclude<StepOutcome, { busy: unknown }>;

interface HeldStep {
  readonly step: AnyStep;
  /** A record of the step that another transaction holds. */
  readonly record: string;
}

/** The most steps, and keys of all steps, in a transaction. PostgreSQL keeps an advisory lock in memory for each new key. */
const MAX_STEPS = 256;
const MAX_KEYS = 512;

/** The share of the pool whose connections may wait for records that other transactions have locked. */
const WAITING_SHARE = 0.25;

/**
 * Records of send policies in SQL. Steps that arrive in one turn share a transaction, which does not wait for locks; one runs
 * at a time. A step on a locked record moves to a second queue, where the steps on one record share a transaction that waits,
 * on a bounded share of the pool. So a locked record does not delay steps on other records.
 */
export class TypeormPolicyStore extends PolicyStore {
  private readonly steps: Batcher<AnyStep, Settled>;
  private readonly held: Batcher<HeldStep, Settled>;

  constructor(
    private readonly executor: Executor,
    private readonly recorder = new EventRecorder(executor),
  ) {
    super();
    const limits = { maxWeight: MAX_KEYS, maxItems: MAX_STEPS };
    this.steps = new Batcher({
      ...limits,
      weightOf: ({ keys }) => keys.length,
      perform: (steps) => this.perform(steps, 'skip'),
      gathering: new EachTurn(),
    });
    this.held = new Batcher({
      ...limits,
      weightOf: ({ step }) => step.keys.length,
      perform: (held) =>
        this.perform(
          held.map(({ step }) => step),
          'wait',
        ),
      keyOf: ({ record }) => record,
      concurrency: Math.max(1, Math.floor(executor.maxTransactions * WAITING_SHARE)),
    });
  }

  override async change<T>(
    keys: readonly string[],
    step: (seen: SeenRecords) => RecordStep<T>,
    lock: 'always' | 'to-change' = 'always',
  ): Promise<T> {
    let result: T | undefined;
    const run = (seen: SeenRecords) => {
      const { result: given, ...told } = step(seen);
      result = given;
      return told;
    };
    const outcome = await this.steps.add({ keys, lock, run });
    if ('error' in outcome) throw outcome.error;
    return result as T; // the step has run, and T may include undefined
  }

  override purge(now: number, limit: number): Promise<number> {
    return this.executor.write(() => purgeRecords(this.executor.dialect, now, limit));
  }

  private async perform(
    steps: readonly AnyStep[],
    ifLocked: IfLocked,
  ): Promise<readonly (Settled | Promise<Settled>)[]> {
    const outcomes = await this.recorder.write((telling) =>
      changeRecords(this.executor.dialect, steps, ifLocked, telling),
    );
    return steps.slice(0, outcomes.length).map((step, index) => {
      const outcome = outcomes[index] ?? { error: new Error('There is no outcome of this step.') };
      if (!('busy' in outcome)) return outcome;
      const [record = ''] = outcome.busy;
      return this.held.add({ step, record });
    });
  }
}
