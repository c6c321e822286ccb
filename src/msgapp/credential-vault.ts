import { Logger } from '@nestjs/common';
import type { IdGenerator } from '../common/ids.js';
import { nameOf } from '../common/name-of.js';
import { CredentialCipher } from './credential-cipher.js';
import type { CredentialKeys } from './credential-keys.js';
import { resealCredentials } from './credential-reseal.js';
import { CredentialsUnreadableError } from './credentials-unreadable-error.js';
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

  /** Where there are older keys, what the session keeps under them is encrypted anew behind its back. */
  override open(lease: SessionLease): SessionCredentials {
    if (this.keys.byId.size > 1) void this.reseal(lease);
    return new LeasedCredentials(this.store, lease, this.cipher(lease));
  }

  /** Told from one value, of an older key if there is one. */
  override async canRead(sessionId: string): Promise<boolean> {
    const cipher = this.cipher({ sessionId });
    const [older] = await this.store.otherCredentials(sessionId, cipher.newest, 1);
    try {
      if (older) cipher.open(older.kind, older.id, older.value);
      return true;
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) return false;
      throw error;
    }
  }

  private async reseal(lease: SessionLease): Promise<void> {
    const log = new Logger('Msgapp');
    try {
      const count = await resealCredentials(this.store, lease, this.cipher(lease));
      if (count > 0)
        log.log(`Session ${lease.sessionId}: all credentials are under the newest key, ${count} are new there.`);
    } catch (error) {
      const name = nameOf(error);
      log.warn(`Session ${lease.sessionId} still has credentials under an older key: ${name}.`);
    }
  }

  private cipher({ sessionId }: Pick<SessionLease, 'sessionId'>): CredentialCipher {
    return new CredentialCipher(this.keys, sessionId, this.random);
  }
}
