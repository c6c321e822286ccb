import { timingSafeEqual } from 'node:crypto';
import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { AccountSettings } from './account-options.js';
import { digestSecret, type ParsedApiKey, parseApiKey } from './api-key.js';
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

/** Who makes a request. */
export interface Caller {
  /** The account that pays. */
  readonly accountId: string;
  /**
   * How the caller showed who it is: `key`: an API key in `X-Api-Key`; `legacy-bearer`: an API key in `Authorization:
   * Bearer` (deprecated); `user-token`: a JWT that the host's `UserTokenVerifier` accepted.
   */
  readonly via: 'key' | 'legacy-bearer' | 'user-token';
  /** The public part of the API key; absent for a user token. */
  readonly keyId?: string;
}

const SEEN = Symbol('nestjs-messaging: who is calling');

/** Node's request, as far as it matters here. */
export interface RawRequest {
  readonly headers: CredentialHeaders;
  [SEEN]?: { readonly by: object; readonly answer: Answer };
}

/** A request as Express (Node's own) or Fastify (wrapping Node's in `raw`) hands it to a handler. */
export interface HttpRequest extends RawRequest {
  readonly raw?: RawRequest;
}

/** Node's request below a framework's. */
export function rawRequestOf(request: HttpRequest): RawRequest {
  return request.raw?.headers === undefined ? request : request.raw;
}

/** Notes on a request what an authenticator (or what a test has in its place) answered, so that nobody has to ask it twice. */
export function rememberCaller(raw: RawRequest, by: object, answer: Answer): void {
  raw[SEEN] = { by, answer };
}

/** What this authenticator answered to this request; another application's answer in the same process is not ours. */
export function callerOf(raw: RawRequest, by: Authenticator): Answer | undefined {
  const seen = raw[SEEN];
  return seen?.by === by ? seen.answer : undefined;
}

/** Whom the last guard let in. */
export function lastCaller(raw: RawRequest): Caller | undefined {
  const answer = raw[SEEN]?.answer;
  return answer?.kind === 'caller' ? answer.caller : undefined;
}

/**
 * The credential of an `Authorization: Bearer <credential>` header (RFC 6750 section 2.1), undefined for anything else. The
 * scheme's case does not matter and one or more spaces may follow it (RFC 9110 section 11.4).
 */
function bearerToken(authorization: unknown): string | undefined {
  return typeof authorization === 'string' ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;

/**
 * Whether a text is built like a JWT (RFC 7519): three segments (JWS compact serialisation, RFC 7515 section 7.1; the last
 * may be empty for `alg: none`) or five (JWE, RFC 7516 section 7.1; the second is empty for direct encryption), the first
 * of which is a JSON object with a string `alg`. Says nothing about its validity.
 */
export function looksLikeJwt(text: string): boolean {
  const segments = text.split('.', 6);
  if (!segments.every((segment) => BASE64URL.test(segment))) return false;
  const [header, second] = segments;
  if (!header) return false;
  if (segments.length === 3 ? !second : segments.length !== 5) return false;
  return namesAlgorithm(header);
}

function namesAlgorithm(header: string): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && 'alg' in parsed && typeof parsed.alg === 'string';
  } catch {
    return false;
  }
}
