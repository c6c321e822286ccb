/** One secret of a session; `value` undefined: forget it. Kinds and ids are the transport's own. */
export interface CredentialChange {
  readonly kind: string;
  readonly id: string;
  readonly value: string | undefined;
}

/** A secret as it is stored. */
export interface KeptCredential {
  readonly kind: string;
  readonly id: string;
  readonly value: string;
}

/** The same secret in another form. */
export interface CredentialReplacement extends KeptCredential {
  /** The stored value that it takes the place of. */
  readonly was: string;
}

/** What a transport keeps of one session. Encrypted at rest, and written only while the session is ours. */
export interface SessionCredentials {
  /** The values that exist, by id. */
  read(kind: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** All of them in one transaction. @throws SessionLostError when another process owns the session now */
  write(changes: readonly CredentialChange[]): Promise<void>;
}
