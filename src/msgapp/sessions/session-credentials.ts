/** A change of one secret of a session. If `value` is undefined, the secret is deleted. The transport defines kinds and ids. */
export interface CredentialChange {
  readonly kind: string;
  readonly id: string;
  readonly value: string | undefined;
}

/** A stored secret. */
export interface KeptCredential {
  readonly kind: string;
  readonly id: string;
  readonly value: string;
}

/** A re-encrypted secret. */
export interface CredentialReplacement extends KeptCredential {
  /** The stored value that it replaces. */
  readonly was: string;
}

/**
 * A transport's store for one session. Its values are encrypted at rest. It is writable only while this process owns the session.
 */
export interface SessionCredentials {
  /** Returns the existing values, by id. */
  read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /**
   * Writes all changes in one transaction.
   * @throws SessionLostError if another process owns the session
   */
  write(changes: readonly CredentialChange[]): Promise<void>;
}
