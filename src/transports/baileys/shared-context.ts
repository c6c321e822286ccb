import { AsyncLocalStorage } from 'node:async_hooks';

/** What all of them have in one asynchronous context, each under a key of its own. The only one that Node knows of. */
const all = new AsyncLocalStorage<ReadonlyMap<symbol, unknown>>();

/**
 * An `AsyncLocalStorage` that Node need not know of. Before Node 24 every storage that was ever used is kept for good, and
 * adds a property to each promise and timer of the process; any number of these adds one.
 */
export class SharedContext<T> extends AsyncLocalStorage<T> {
  private key = Symbol('context');

  override getStore(): T | undefined {
    // What is under this key was put there by `run` or `enterWith`.
    return all.getStore()?.get(this.key) as T | undefined;
  }

  override run<R, A extends unknown[]>(store: T, callback: (...args: A) => R, ...args: A): R {
    return all.run(this.mapWith(store), callback, ...args);
  }

  override exit<R, A extends unknown[]>(callback: (...args: A) => R, ...args: A): R {
    return all.run(this.mapWith(undefined), callback, ...args);
  }

  override enterWith(store: T): void {
    all.enterWith(this.mapWith(store));
  }

  override disable(): void {
    // Nobody can ask any more for what is under the old one.
    this.key = Symbol('context');
  }

  private mapWith(store: T | undefined): ReadonlyMap<symbol, unknown> {
    return new Map(all.getStore()).set(this.key, store);
  }
}
