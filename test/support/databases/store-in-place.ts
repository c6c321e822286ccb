import type { StoreClass } from '../../../src/storage/engine/database.js';

/** For a storage that overrides `store`: returns its own store if that belongs to the requested class. */
export function inPlaceOf<S extends object>(Store: StoreClass<S>, own: object): S | undefined {
  return own instanceof Store ? own : undefined;
}
