import type { Link, LinkListener } from '../../msgapp/msgapp-transport.js';

/** A connection that never was: the session counts as linked, but its credentials are gone. */
export function unlinkedLink(listener: LinkListener): Link {
  setImmediate(() => {
    const end = { next: 'give-up', status: 'logged_out', reason: 'credentials_missing' } as const;
    listener({ kind: 'ended', end }).catch(() => undefined);
  });
  return {
    send: async () => ({ kind: 'retry', error: 'not_open' }),
    exists: async () => undefined,
    close: async () => undefined,
    logout: async () => undefined,
  };
}
