import type { SessionTiming } from './msgapp-transport.js';

/** How long sessions wait unless their transport or the host says otherwise. */
export const DEFAULT_SESSION_TIMING: SessionTiming = {
  leaseMs: 30_000,
  scanMs: 180_000,
  answerMs: 30_000,
  steadyMs: 300_000,
  staggerMs: 250,
};
