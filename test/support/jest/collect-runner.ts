import type { TestRunner } from '../../contract/test-runner.js';

type Step = () => Promise<void>;

interface Group {
  readonly path: readonly string[];
  readonly before: Step[];
  readonly after: Step[];
}

interface CollectedTest {
  readonly name: string;
  readonly run: Step;
  readonly groups: readonly Group[];
}

/** A test runner that only collects, so that a suite can run inside a test, which sees it fail. */
export class CollectRunner implements TestRunner {
  /** Names of skipped tests. */
  readonly skipped: string[] = [];
  private readonly tests: CollectedTest[] = [];
  private groups: readonly Group[] = [{ path: [], before: [], after: [] }];

  readonly describe = (name: string, body: () => void): void => {
    const outer = this.groups;
    this.groups = [...outer, { path: [...(outer.at(-1)?.path ?? []), name], before: [], after: [] }];
    body();
    this.groups = outer;
  };

  readonly test = Object.assign(
    (name: string, run: Step): void => {
      this.tests.push({ name: [...(this.groups.at(-1)?.path ?? []), name].join(' > '), run, groups: this.groups });
    },
    { skip: (name: string): void => void this.skipped.push([...(this.groups.at(-1)?.path ?? []), name].join(' > ')) },
  );

  readonly beforeEach = (step: Step): void => {
    this.groups.at(-1)?.before.push(step);
  };

  readonly afterEach = (step: Step): void => {
    this.groups.at(-1)?.after.push(step);
  };

  /** Names of collected tests. */
  get names(): readonly string[] {
    return this.tests.map(({ name }) => name);
  }

  /**
   * Runs the collected tests, or those whose full name begins with `prefix`. Returns the error of each; undefined for a
   * test that passed.
   * @param end whether to stop after the first one that fails
   */
  async run(prefix = '', end: 'last' | 'first failure' = 'last'): Promise<Map<string, unknown>> {
    const results = new Map<string, unknown>();
    for (const test of this.tests.filter(({ name }) => name.startsWith(prefix))) {
      if (results.has(test.name)) throw new Error(`Two tests are called ${test.name}`);
      const failure = await this.runOne(test);
      results.set(test.name, failure);
      if (end === 'first failure' && failure !== undefined) break;
    }
    return results;
  }

  private async runOne({ run, groups }: CollectedTest): Promise<unknown> {
    const steps = [...groups.flatMap(({ before }) => before), run];
    const failures: unknown[] = [];
    const attempt = async (step: Step) => {
      try {
        await step();
      } catch (failure) {
        failures.push(failure ?? 'thrown without a reason');
      }
    };
    for (const step of steps) if (failures.length === 0) await attempt(step);
    for (const step of groups.toReversed().flatMap(({ after }) => after)) await attempt(step);
    return failures[0];
  }
}
