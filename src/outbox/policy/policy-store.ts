import { Batcher, EachTurn } from '../../common/concurrency/batcher.js';
import { EventRecorder } from '../../events/event-recorder.js';
import type { IfLocked } from '../../storage/dialect.js';
import type { Database } from '../../storage/engine/database.js';
import { type AnyStep, changeRecords, purgeRecords, type StepOutcome } from './policy-records.js';
import { RecordStep } from './record-step.js';
import type { SeenRecords } from './send-policy.js';

type Settled = Exclude<StepOutcome, { busy: unknown }>;

interface HeldStep {
  readonly step: AnyStep;
  /** A record of the step that another transaction has locked. */
  readonly record: string;
}

/**
 * The maximum number of steps, and keys of all steps, in a transaction. PostgreSQL keeps an advisory lock in memory
 * for each new key.
 */
const MAX_STEPS = 256;
const MAX_KEYS = 512;

/** The share of the pool whose connections may wait for records that other transactions have locked. */
const WAITING_SHARE = 0.25;

/** Persists the records of send policies. A commit of sends reads and writes them in its own transaction. */
export class PolicyStore {
  private readonly steps: Batcher<AnyStep, Settled>;
  private readonly held: Batcher<HeldStep, Settled>;

  private readonly recorder: EventRecorder;

  constructor(private readonly database: Database) {
    this.recorder = database.store(EventRecorder);
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
      concurrency: Math.max(1, Math.floor(database.maxTransactions * WAITING_SHARE)),
    });
  }

  /**
   * One transaction: locks and reads the records of `keys`, runs `step` and writes its changes. Steps on the same
   * record run one after the other, as do commits of sends whose policies name it. `step` must have no side effects,
   * because it runs again if the transaction has to be repeated.
   *
   * @param lock `to-change`: a store may run the step without a lock, on a state that was committed after the call. If
   *   the step changes nothing, its result is returned. So it need not wait for a record that another transaction has
   *   locked. Default `always`
   * @throws StorageUnavailableError also if a record is locked for too long
   */
  async change<T>(
    keys: readonly string[],
    step: (seen: SeenRecords) => RecordStep<T>,
    lock: 'always' | 'to-change' = 'always',
  ): Promise<T> {
    let result: T | undefined;
    const run = (seen: SeenRecords) => {
      const { result: given, ...changes } = step(seen);
      result = given;
      return changes;
    };
    const outcome = await this.steps.add({ keys, lock, run });
    if ('error' in outcome) throw outcome.error;
    return result as T; // the step has run, and T may include undefined
  }

  /**
   * Removes at most `limit` records that have expired by `now`, milliseconds since the epoch.
   * @returns how many were removed
   */
  purge(now: number, limit: number): Promise<number> {
    return this.database.write(() => purgeRecords(this.database.dialect, now, limit));
  }

  private async perform(
    steps: readonly AnyStep[],
    ifLocked: IfLocked,
  ): Promise<readonly (Settled | Promise<Settled>)[]> {
    const outcomes = await this.recorder.write((publisher) =>
      changeRecords(this.database.dialect, steps, ifLocked, publisher),
    );
    return steps.slice(0, outcomes.length).map((step, index) => {
      const outcome = outcomes[index] ?? { error: new Error('There is no outcome of this step.') };
      if (!('busy' in outcome)) return outcome;
      const [record = ''] = outcome.busy;
      return this.held.add({ step, record });
    });
  }
}
