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

/** A reply stored under an Idempotency-Key. */
export interface StoredReply {
  readonly fingerprint: string;
  readonly reply: object;
}

/** An Idempotency-Key with its scope as one string, unambiguous for all characters. */
export function onceId(key: Pick<IdempotencyKey, 'accountId' | 'route' | 'key'>): string {
  return JSON.stringify([key.accountId, key.route, key.key]);
}
