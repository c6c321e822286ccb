import type { PurgeRule } from '../../outbox/purger.js';
import type { ErasureRule } from '../../outbox/retention/erasure-service.js';
import type { RouteRecipientStore } from './route-recipient-store.js';

/** Purges the hashes of numbers that no longer count for the option `distinctRecipients` of a route. */
export function routeRecipientPurge(store: RouteRecipientStore): PurgeRule {
  return { what: 'recipients of routes', purge: (now, limit) => store.purge(now, limit) };
}

/** Erases the hashes of a number. */
export function routeRecipientErasure(store: RouteRecipientStore): ErasureRule {
  return {
    what: 'routeRecipients',
    everywhere: async (number) => ({ routeRecipients: await store.forget(number) }),
  };
}
