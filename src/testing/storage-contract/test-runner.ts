/** The part of a test runner that the contract suites use. Jest, Vitest and `node:test` have it. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>): unknown;
  beforeEach(body: () => Promise<void>): unknown;
  afterEach(body: () => Promise<void>): unknown;
}

/**
 * The test runner with global functions, as Jest and Vitest (`globals: true`) have them.
 *
 * @throws Error where a function is missing
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
