import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

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

const NAME = 'AsyncLocalStorage';

/**
 * Does something synchronous, during which `new AsyncLocalStorage()` makes a {@link SharedContext}, in whichever module.
 *
 * It is for `makeWASocket`. Each socket makes a storage for its transactions, and never disables it
 * (WhiskeySockets/Baileys#2806), so with each reconnection the process keeps more memory and every `await` in it gets
 * slower. There is no option for it. The code that runs meanwhile is the caller's alone, and what it makes works as a
 * storage does. When Baileys makes none, or takes the class from elsewhere, nothing changes.
 *
 * It can go when Baileys makes one storage for all sockets, or when Node 24 is the oldest that is supported: there a storage
 * is free once nobody has it.
 */
export function withSharedContexts<R>(make: () => R): R {
  // A getter on Node 22 and later, where assigning fails; or what a host has put there.
  const own = Object.getOwnPropertyDescriptor(asyncHooks, NAME);
  if (!own?.configurable) return make();
  const put = (descriptor: PropertyDescriptor) => {
    Object.defineProperty(asyncHooks, NAME, descriptor);
    // ES modules see what was there when this was called last.
    syncBuiltinESMExports();
  };
  try {
    put({ value: SharedContext, writable: true, enumerable: true, configurable: true });
    return make();
  } finally {
    put(own);
  }
}
