import { MediaStore } from '../media/media-store.js';
import { type PurgeRule, providePurge } from '../outbox/purger.js';
import { SessionStore } from './sessions/session-store.js';

const DAY_MS = 86_400_000;

/**
 * Files that no waiting message needs. The end of a message removes its file; this rule removes what a crash left, whose
 * message was not stored, or whose end was missed.
 */
export function mediaPurge(store: MediaStore): PurgeRule {
  return { what: 'media', keepMs: 7 * DAY_MS, purge: (before, limit) => store.purge(before, limit) };
}

/** Ended sessions, kept for a quarter so that a bill can be explained. A batch of 100 removes up to 200 steps of each. */
export function sessionPurge(store: SessionStore): PurgeRule {
  return {
    what: 'sessions',
    keepMs: 90 * DAY_MS,
    batchSize: 100,
    purge: (before, limit) => store.purge(before, limit),
  };
}

/** What the messaging-app channels have removed; stores are shared by all channels, so the rules are too. */
export const MSGAPP_PURGES = [providePurge(MediaStore, mediaPurge), providePurge(SessionStore, sessionPurge)];
