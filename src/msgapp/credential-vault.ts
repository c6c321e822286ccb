import type { IdGenerator } from '../common/ids.js';
import { CredentialCipher } from './credential-cipher.js';
import type { CredentialKeys } from './credential-keys.js';
import { LeasedCredentials } from './leased-credentials.js';
import type { SessionCredentials } from './session-credentials.js';
import type { SessionLease, SessionStore } from './session-store.js';
import { SessionVault } from './session-vault.js';

/** Keeps what transports must keep of sessions in the database, encrypted with a key from outside of it. */
export class CredentialVault extends SessionVault {
  constructor(
    private readonly store: SessionStore,
    private readonly keys: CredentialKeys,
    private readonly random: Pick<IdGenerator, 'bytes'>,
  ) {
    super();
  }

  override open(lease: SessionLease): SessionCredentials {
    return new LeasedCredentials(this.store, lease, new CredentialCipher(this.keys, lease.sessionId, this.random));
  }
}
