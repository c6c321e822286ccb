import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';

/** The stores of all shared contexts, by their keys. This is the only `AsyncLocalStorage` that Node knows. */
const stores = new AsyncLocalStorage<ReadonlyMap<symbol, unknown>>();

/**
 * An `AsyncLocalStorage` that shares one real storage with all others of this class. Before Node 24 every used storage is kept
 * for the life of the process and adds a property to each promise and timer. All shared contexts together add only one.
 */
export class SharedContext<T> extends AsyncLocalStorage<T> {
  private key = Symbol('context');

  override getStore(): T | undefined {
    // `run` or `enterWith` has stored the value under this key.
    return stores.getStore()?.get(this.key) as T | undefined;
  }

  override run<R, A extends unknown[]>(store: T, callback: (...args: A) => R, ...args: A): R {
    return stores.run(this.mapWith(store), callback, ...args);
  }

  override exit<R, A extends unknown[]>(callback: (...args: A) => R, ...args: A): R {
    return stores.run(this.mapWith(undefined), callback, ...args);
  }

  override enterWith(store: T): void {
    stores.enterWith(this.mapWith(store));
  }

  override disable(): void {
    // Values under the old key are unreachable now.
    this.key = Symbol('context');
  }

  private mapWith(store: T | undefined): ReadonlyMap<symbol, unknown> {
    return new Map(stores.getStore()).set(this.key, store);
  }
}

const NAME = 'AsyncLocalStorage';

/**
 * Runs a synchronous function during which `new AsyncLocalStorage()` creates a {@link SharedContext}, in any module.
 *
 * It is needed for `makeWASocket`: each socket creates a storage for its transactions and never disables it
 * (WhiskeySockets/Baileys#2806), so that with each reconnection the process keeps more memory and every `await` gets slower.
 * Baileys has no option for this. Only the given function runs meanwhile, and a `SharedContext` behaves as a storage. If Baileys
 * creates no storage, or gets the class in another way, nothing changes.
 *
 * Remove this when Baileys uses one storage for all sockets, or when Node 24 is the oldest supported version, because Node 24
 * collects unused storages.
 */
export function withSharedContexts<R>(make: () => R): R {
  // On Node 22 and later this is a getter, so an assignment would fail. A host may also have replaced it.
  const own = Object.getOwnPropertyDescriptor(asyncHooks, NAME);
  if (!own?.configurable) return make();
  const put = (descriptor: PropertyDescriptor) => {
    Object.defineProperty(asyncHooks, NAME, descriptor);
    // This updates the named exports that ES modules see.
    syncBuiltinESMExports();
  };
  try {
    put({ value: SharedContext, writable: true, enumerable: true, configurable: true });
    return make();
  } finally {
    put(own);
  }
}
