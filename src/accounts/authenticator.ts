import { timingSafeEqual } from 'node:crypto';
import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AccountSettings } from './account-settings.js';
import { digestSecret, type ParsedApiKey, parseApiKey } from './api-key.js';
import { bearerToken } from './bearer-token.js';
import type { Caller } from './caller.js';
import { looksLikeJwt } from './jwt-shape.js';
import { KeyDirectory, type KnownKey } from './key-directory.js';
import { UserTokenVerifier } from './user-token-verifier.js';

/** The two headers that say who is calling, as Node parses them. */
export interface CredentialHeaders {
  readonly 'x-api-key'?: string | string[] | undefined;
  readonly authorization?: string | undefined;
}

/** Who it is, or why nobody. */
export type Answer =
  | { readonly kind: 'caller'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly code: 'error.unauthorized' | 'error.use_x_api_key' };

const UNAUTHORIZED: Answer = { kind: 'refused', code: 'error.unauthorized' };
const USE_X_API_KEY: Answer = { kind: 'refused', code: 'error.use_x_api_key' };

/** Stands in for an unknown key, so that its answer takes as long as a wrong secret's. No secret hashes to it. */
const NO_DIGEST = Buffer.alloc(32);

/** Says who is calling, by the contract's precedence: an `X-Api-Key` header that is there at all decides alone. */
@Injectable()
export class Authenticator {
  constructor(
    private readonly clock: Clock,
    private readonly keys: KeyDirectory,
    private readonly settings: AccountSettings,
    @Optional() private readonly verifier?: UserTokenVerifier,
  ) {}

  /**
   * Who sends these headers. A promise only when a key is not in memory or a user token is to be verified; it rejects with
   * `StorageUnavailableError` when the key cannot be looked up.
   */
  authenticate(headers: CredentialHeaders): Answer | Promise<Answer> {
    // Presence, not truth: a blank header arrives as an empty string.
    if ('x-api-key' in headers) return this.byApiKeyHeader(headers['x-api-key']);
    const token = bearerToken(headers.authorization);
    if (token === undefined) return UNAUTHORIZED;
    const key = parseApiKey(token);
    if (key !== undefined)
      return this.settings.legacyBearer === false ? USE_X_API_KEY : this.byKey(key, 'legacy-bearer');
    return this.verifier !== undefined && looksLikeJwt(token) ? this.byUserToken(this.verifier, token) : UNAUTHORIZED;
  }

  private byApiKeyHeader(header: string | string[] | undefined): Answer | Promise<Answer> {
    const key = typeof header === 'string' ? parseApiKey(header) : undefined;
    return key === undefined ? UNAUTHORIZED : this.byKey(key, 'key');
  }

  private byKey(key: ParsedApiKey, via: Caller['via']): Answer | Promise<Answer> {
    const known = this.keys.find(key.id);
    return known instanceof Promise
      ? known.then((found) => this.compare(key, found, via))
      : this.compare(key, known, via);
  }

  private compare(key: ParsedApiKey, known: KnownKey | undefined, via: Caller['via']): Answer {
    const expected = known?.digest.length === NO_DIGEST.length ? known.digest : NO_DIGEST;
    const same = timingSafeEqual(digestSecret(key.secret), expected);
    if (known === undefined || !same || !this.isLive(known)) return UNAUTHORIZED;
    return { kind: 'caller', caller: { accountId: known.accountId, via, keyId: known.id } };
  }

  private isLive({ expiresAt, revokedAt }: KnownKey): boolean {
    return revokedAt === undefined && (expiresAt === undefined || this.clock.now() < expiresAt);
  }

  private async byUserToken(verifier: UserTokenVerifier, token: string): Promise<Answer> {
    const user = await verifier.verify(token);
    return user ? { kind: 'caller', caller: { accountId: user.accountId, via: 'user-token' } } : UNAUTHORIZED;
  }
}
