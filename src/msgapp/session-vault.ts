import type { SessionCredentials } from './session-credentials.js';
import type { SessionLease } from './session-store.js';

/** Keeps what transports must keep of sessions. */
export abstract class SessionVault {
  /** What a session keeps, for as long as the lease is good. */
  abstract open(lease: SessionLease): SessionCredentials;
}
