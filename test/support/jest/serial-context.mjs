/**
 * What Jest gets in place of an `AsyncLocalStorage`, in which it keeps the test that is running. Up to Node 22, Node calls
 * hooks for each promise of the process while a real one is in use, and the suites took a sixth more processor time.
 * One value is enough for tests that run one after the other: this project has no `test.concurrent`.
 */
export class SerialContext {
  #store;

  getStore() {
    return this.#store;
  }

  /** Like that of `AsyncLocalStorage`. The store is there until the promise that the callback returns has settled. */
  run(store, callback) {
    const before = this.#store;
    this.#store = store;
    const end = () => {
      this.#store = before;
    };
    let result;
    try {
      result = callback();
    } catch (error) {
      end();
      throw error;
    }
    if (typeof result?.then === 'function') return result.finally(end);
    end();
    return result;
  }
}
