/** An Idempotency-Key with its scope. */
export interface IdempotencyKey {
  readonly accountId: string;
  /** The name of the route; the same key may be used on another one. */
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical request body. */
  readonly fingerprint: string;
  /** When the reply expires, milliseconds since the epoch. */
  readonly expiresAt: number;
}
