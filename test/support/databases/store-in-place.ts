import type { StoreClass } from '../../../src/storage/engine/database.js';

/** For a storage that overrides `store`: its own store, if that is one of the class that is asked for. */
export function inPlaceOf<S extends object>(Store: StoreClass<S>, own: object): S | undefined {
  return own instanceof Store ? own : undefined;
}
