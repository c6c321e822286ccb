import asyncHooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { SharedContext } from './shared-context.js';

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
