import type { CredentialCipher } from './credential-cipher.js';
import type { SessionLease, SessionStore } from './session-store.js';

/** So many values share a transaction, and hold up those of the session's transport as long. */
const AT_A_TIME = 200;

/**
 * Encrypts with the newest key what a session keeps under older ones, so that these can be retired. The session goes on
 * meanwhile: a value that its transport has written since is left alone.
 *
 * @returns how many values that was
 * @throws CredentialsUnreadableError when one cannot be decrypted; those before it are done
 */
export async function resealCredentials(
  store: SessionStore,
  lease: SessionLease,
  cipher: CredentialCipher,
): Promise<number> {
  let count = 0;
  for (;;) {
    const old = await store.otherCredentials(lease.sessionId, cipher.newest, AT_A_TIME);
    const changes = old.map(({ kind, id, value }) => ({
      ...{ kind, id, was: value },
      value: cipher.seal(kind, id, cipher.open(kind, id, value)),
    }));
    // Lost to another process: that one does the rest.
    if (old.length === 0 || !(await store.replaceCredentials(lease, changes))) return count;
    count += old.length;
  }
}
