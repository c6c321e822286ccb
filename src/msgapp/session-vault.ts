import type { SessionCredentials } from './session-credentials.js';
import type { SessionLease } from './session-store.js';

/** Keeps what transports must keep of sessions. */
export abstract class SessionVault {
  /** What a session keeps, for as long as the lease is good. */
  abstract open(lease: SessionLease): SessionCredentials;

  /** Whether what is kept of a session can be read here; a vault without keys of its own always can. */
  async canRead(_sessionId: string): Promise<boolean> {
    return true;
  }
}
