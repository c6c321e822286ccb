import { CredentialsUnreadableError } from './credentials-unreadable-error.js';
import type { CredentialChange, SessionCredentials } from './session-credentials.js';

/** Credentials that tell when one cannot be decrypted, whatever the transport that asked makes of it. */
export class WatchedCredentials implements SessionCredentials {
  constructor(
    private readonly inner: SessionCredentials,
    private readonly unreadable: (error: CredentialsUnreadableError) => void,
  ) {}

  async read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    try {
      return await this.inner.read(kind, ids);
    } catch (error) {
      if (error instanceof CredentialsUnreadableError) this.unreadable(error);
      throw error;
    }
  }

  write(changes: readonly CredentialChange[]): Promise<void> {
    return this.inner.write(changes);
  }
}
