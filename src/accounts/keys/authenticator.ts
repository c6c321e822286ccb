import { timingSafeEqual } from 'node:crypto';
import { Injectable, Optional } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import type { ErrorCode } from '../../common/errors.js';
import { AccountSettings } from '../account-options.js';
import type { OwnUserTokens } from '../users/own-user-tokens.js';
import { isSubject } from '../users/subject.js';
import { UserTokenVerifier, type VerifiedUser } from '../users/user-token-verifier.js';
import { digestSecret, type ParsedApiKey, parseApiKey } from './api-key.js';
import { type CallerKey, KeyDirectory, type KnownKey } from './key-directory.js';
import { type AccountRole, isAccountRole, isOperatorRole, type OperatorRole } from './permissions.js';

/** The headers with credentials, as Node parses them. */
export interface CredentialHeaders {
  readonly 'x-api-key'?: string | string[] | undefined;
  readonly 'x-user-token'?: string | string[] | undefined;
  readonly authorization?: string | undefined;
}

/** The result of an authentication: the caller and the stored key, or the code of the refusal. */
export type Answer =
  | { readonly kind: 'caller'; readonly caller: Caller; readonly known?: KnownKey }
  | { readonly kind: 'refused'; readonly code: RefusedCode; readonly retryAfter?: number };

/** Why a caller is refused. */
type RefusedCode = Extract<
  ErrorCode,
  `error.${'unauthorized' | 'use_x_api_key' | 'address_not_allowed' | 'scope_missing' | 'user_required' | 'role_missing' | 'account_unnamed' | 'account_not_found' | 'account_suspended' | 'key_rate'}`
>;

export const UNAUTHORIZED: Answer = { kind: 'refused', code: 'error.unauthorized' };
const USE_X_API_KEY: Answer = { kind: 'refused', code: 'error.use_x_api_key' };

/**
 * The digest that an unknown key is compared with, so that its refusal takes as long as that of a wrong secret. No
 * known secret has this hash.
 */
const NO_DIGEST = Buffer.alloc(32);

/**
 * Authenticates callers. If there is an `X-Api-Key` header, even an empty one, it alone decides. Otherwise, if there is
 * an `X-User-Token` header, even an empty one, that one decides.
 */
@Injectable()
export class Authenticator {
  constructor(
    private readonly clock: Clock,
    private readonly keys: KeyDirectory,
    private readonly settings: AccountSettings,
    @Optional() private readonly verifier?: UserTokenVerifier,
  ) {}

  /** Verifies the tokens that we issue ourselves; undefined if we issue none. */
  ownTokens: OwnUserTokens | undefined;

  /** Whether user tokens are accepted. */
  get verifiesUserTokens(): boolean {
    return this.verifier !== undefined || this.ownTokens !== undefined;
  }

  /**
   * Authenticates by headers.
   * @param bearer whether a key in `Authorization: Bearer` is as good as one in `X-Api-Key` (`Permission.bearer`)
   * @returns a promise only for a user token, or if the key is not in memory.
   * @throws StorageUnavailableError (rejection) if the key cannot be looked up
   */
  authenticate(headers: CredentialHeaders, bearer = false): Answer | Promise<Answer> {
    // The test is for presence: a blank header is an empty string.
    if ('x-api-key' in headers) return this.byApiKeyHeader(headers['x-api-key']);
    const token = userTokenIn(headers);
    if (token === undefined) return UNAUTHORIZED;
    const key = 'x-user-token' in headers ? undefined : parseApiKey(token);
    if (key !== undefined && bearer) return this.byKey(key, 'key');
    if (key !== undefined)
      return this.settings.legacyBearer === false ? USE_X_API_KEY : this.byKey(key, 'legacy-bearer');
    return this.verifiesUserTokens && looksLikeJwt(token) ? this.byUserToken(token) : UNAUTHORIZED;
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
    const { accountId, key: own } = known;
    return { kind: 'caller', caller: { accountId, via, keyId: own.id, key: own }, known };
  }

  private isLive({ expiresAt, revokedAt }: KnownKey): boolean {
    return revokedAt === undefined && (expiresAt === undefined || this.clock.now() < expiresAt);
  }

  private async byUserToken(token: string): Promise<Answer> {
    if (this.ownTokens?.owns(token)) {
      const user = await this.ownTokens.verify(token);
      return user ? withUserSession(callerFrom(user, true), user.userSessionId) : UNAUTHORIZED;
    }
    const user = await this.verifier?.verify(token);
    return user ? callerFrom(user, this.verifier?.operators === true) : UNAUTHORIZED;
  }
}

function withUserSession(answer: Answer, userSessionId: string): Answer {
  return answer.kind === 'caller' ? { kind: 'caller', caller: { ...answer.caller, userSessionId } } : answer;
}

/** The caller of a verified token. The answer is a 401 if the verifier may not give the token's role. */
function callerFrom(user: VerifiedUser, operators: boolean): Answer {
  const { accountId = '', subject, role } = user;
  const via = 'user-token';
  if (role === undefined) return accountId === '' ? UNAUTHORIZED : { kind: 'caller', caller: { accountId, via } };
  if (!isSubject(subject)) return UNAUTHORIZED;
  if (isOperatorRole(role)) {
    if (!operators || accountId !== '') return UNAUTHORIZED;
    return { kind: 'caller', caller: { accountId, via, user: { subject, operator: role } } };
  }
  if (!isAccountRole(role) || accountId === '') return UNAUTHORIZED;
  return { kind: 'caller', caller: { accountId, via, user: { subject, role } } };
}

/** A user to whom a verifier has given a role: of the account, or of the operator. */
export type RoledUser =
  | { readonly subject: string; readonly role: AccountRole; readonly operator?: undefined }
  | { readonly subject: string; readonly operator: OperatorRole; readonly role?: undefined };

/** The authenticated caller of a request. */
export interface Caller {
  /** The account that is charged. Empty for an operator on a route that concerns no single account. */
  readonly accountId: string;
  /**
   * The kind of credential. `key`: an API key in `X-Api-Key`; `legacy-bearer`: an API key in `Authorization:
   * Bearer` (deprecated); `user-token`: a JWT of ours, or one that the host's `UserTokenVerifier` accepted.
   */
  readonly via: 'key' | 'legacy-bearer' | 'user-token';
  /** The public part of the API key; absent for a user token. */
  readonly keyId?: string;
  /** The API key. Pass it to sends as their option `key`. Absent for a user token. */
  readonly key?: CallerKey;
  /** The user of a token with a role. */
  readonly user?: RoledUser;
  /** The session of a token that we have issued. */
  readonly userSessionId?: string;
}

/**
 * The name under which a caller's requests and streams are counted. For most callers it is their account. An operator
 * is counted apart, so that an operator who looks at an account does not use up its limits. An account and a subject
 * may be the same text, so each has its own prefix.
 */
export function countedAs({ accountId, user }: Caller): string {
  return user?.operator === undefined ? `account ${accountId}` : `operator ${user.subject}`;
}

const SEEN = Symbol('nestjs-messaging: authentication');

/** The part of Node's request that this file uses. */
export interface RawRequest {
  readonly headers: CredentialHeaders;
  [SEEN]?: { readonly by: object; readonly answer: Answer };
}

/** A handler's request: Node's own on Express, a wrapper with `raw` on Fastify. */
export interface HttpRequest extends RawRequest {
  readonly raw?: RawRequest;
}

/** Returns Node's own request of a framework's request. */
export function rawRequestOf(request: HttpRequest): RawRequest {
  return request.raw?.headers === undefined ? request : request.raw;
}

/**
 * Stores the answer of an authenticator (or of its test double) on a request, so that the authenticator is asked only
 * once.
 */
export function rememberCaller(raw: RawRequest, by: object, answer: Answer): void {
  raw[SEEN] = { by, answer };
}

/**
 * The answer that this authenticator has stored on a request. An answer of another application in the same process is
 * ignored.
 */
export function callerOf(raw: RawRequest, by: Authenticator): Answer | undefined {
  const seen = raw[SEEN];
  return seen?.by === by ? seen.answer : undefined;
}

/**
 * The authenticator, or its test double, whose answer admitted the caller; undefined if the last answer was a refusal.
 */
export function admittedBy(raw: RawRequest): object | undefined {
  return raw[SEEN]?.answer.kind === 'caller' ? raw[SEEN].by : undefined;
}

/** The caller that the last guard admitted. */
export function lastCaller(raw: RawRequest): Caller | undefined {
  const answer = raw[SEEN]?.answer;
  return answer?.kind === 'caller' ? answer.caller : undefined;
}

/**
 * The user token of a request. If there is an `X-User-Token` header, even an empty one, it alone decides. Otherwise the
 * token is in `Authorization: Bearer`. Pages behind a proxy with Basic authentication use `X-User-Token`, because the
 * proxy occupies `Authorization`.
 */
export function userTokenIn(headers: CredentialHeaders): string | undefined {
  if (!('x-user-token' in headers)) return bearerToken(headers.authorization);
  const token = headers['x-user-token'];
  return typeof token === 'string' ? token : '';
}

/**
 * The credential of an `Authorization: Bearer <credential>` header (RFC 6750 section 2.1), undefined for anything else.
 * The case of the scheme does not matter, and one or more spaces may follow it (RFC 9110 section 11.4).
 */
export function bearerToken(authorization: unknown): string | undefined {
  return typeof authorization === 'string' ? /^bearer +(\S+)$/i.exec(authorization)?.[1] : undefined;
}

const BASE64URL = /^[A-Za-z0-9_-]*$/;

/**
 * Whether a text has the structure of a JWT (RFC 7519): three segments (JWS compact serialisation, RFC 7515 section
 * 7.1; the last may be empty for `alg: none`) or five (JWE, RFC 7516 section 7.1; the second is empty for direct
 * encryption), the first of which is a JSON object with a string `alg`. The token is not verified.
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
