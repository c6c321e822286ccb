type RegisterTest = (name: string, body: () => Promise<void>) => unknown;

/** The functions of a test runner that the contract suites use. Jest, Vitest and `node:test` have them. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  readonly test: RegisterTest & { readonly skip: RegisterTest };
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

/** A runner that skips the tests of the optional parts that a harness lacks. */
export interface PartRunner<Part extends string> extends TestRunner {
  /** Registers a test that needs a part: a skipped one if the harness lacks it. */
  testWith(part: Part, name: string, body: () => Promise<void>): unknown;
}

export function partRunner<Part extends string>(runner: TestRunner, lacks: readonly Part[]): PartRunner<Part> {
  const { describe, test, beforeEach, afterEach } = runner;
  const testWith: PartRunner<Part>['testWith'] = (part, name, body) =>
    (lacks.includes(part) ? test.skip : test)(name, body);
  return { describe, test, beforeEach, afterEach, testWith };
}

/** The error of a test that needs a part which the harness lacks although `lacks` does not name it. */
export function lacking(part: string): Error {
  return new Error(
    `The harness lacks ${part}: pass it in "lacks", so that the tests that need it are shown as skipped.`,
  );
}

/**
 * The test runner with global functions, as Jest and Vitest (`globals: true`) have them.
 *
 * @throws Error if a function is missing
 */
export function globalRunner(): TestRunner {
  const { describe, test, it, beforeEach, afterEach }: Record<string, unknown> = { ...fromGlobal() };
  const found = { describe, test: test ?? it, beforeEach, afterEach };
  if (!isRunner(found)) {
    throw new Error('No global describe, test, beforeEach and afterEach: pass those of your test runner.');
  }
  return found;
}

function fromGlobal(): object {
  const names = ['describe', 'test', 'it', 'beforeEach', 'afterEach'];
  return Object.fromEntries(names.map((name) => [name, Reflect.get(globalThis, name)]));
}

function isRunner(found: { [name in keyof TestRunner]: unknown }): found is TestRunner {
  return Object.values(found).every((part) => typeof part === 'function');
}
