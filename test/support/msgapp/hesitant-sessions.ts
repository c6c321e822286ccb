import type { SessionStatus } from '../../../src/events/session-status.js';
import type { SessionMove } from '../../../src/msgapp/sessions/session-records.js';
import type { SessionStore } from '../../../src/msgapp/sessions/session-store.js';

/** A store that waits, or fails, before each call as a test wants. */
export function hesitant(
  store: SessionStore,
  before: (method: string, args: readonly unknown[]) => Promise<void>,
): SessionStore {
  return new Proxy(store, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        await before(String(name), args);
        return method.apply(target, args);
      };
    },
  });
}

/** Whether the arguments of a `move` ask for a state. */
export function isMoveTo(args: readonly unknown[], status: SessionStatus): boolean {
  return (args[1] as SessionMove | undefined)?.to === status;
}
