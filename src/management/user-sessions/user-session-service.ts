import { Injectable, Optional } from '@nestjs/common';
import { hashSecret } from '../../accounts/keys/api-key.js';
import { userTokenIn } from '../../accounts/keys/authenticator.js';
import { isAccountRole, isOperatorRole } from '../../accounts/keys/permissions.js';
import { isSubject } from '../../accounts/users/subject.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { isAccountId } from '../../common/inputs.js';
import { faultLog } from '../../common/log.js';
import { ManagementSettings } from '../management-options.js';
import { AccessTokens } from './access-tokens.js';
import { isLinkSecret } from './link-secret.js';
import { type RefreshToken, RefreshTokens } from './refresh-tokens.js';
import { type SignInRequest, UserAuthenticator } from './user-authenticator.js';
import type { UserSessionView } from './user-session.api.js';
import { UserSessionDirectory } from './user-session-directory.js';
import { type UserIdentity, type UserSession, type UserSessionStart, UserSessionStore } from './user-session-store.js';

/** How long the last replaced refresh token stays valid, in milliseconds, because two tabs may refresh at the same time. */
export const GRACE_MS = 10_000;

/** The data with which a user signs in: the secret of a link, or credentials for the host's `UserAuthenticator`. */
export interface SignIn {
  readonly token?: string | undefined;
  readonly credentials?: unknown;
}

/** A session that was begun or refreshed. */
export interface GrantedUserSession {
  readonly view: UserSessionView;
  /** The cookie's new value, and for how many seconds it is valid. Undefined: the browser has the newest value. */
  readonly cookie: { readonly value: string; readonly seconds: number } | undefined;
}

/** Begins, refreshes and ends the sessions of users. */
@Injectable()
export class UserSessionService {
  constructor(
    private readonly store: UserSessionStore,
    private readonly access: AccessTokens,
    private readonly refreshTokens: RefreshTokens,
    private readonly directory: UserSessionDirectory,
    private readonly settings: ManagementSettings,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    @Optional() private readonly users?: UserAuthenticator,
  ) {}

  /**
   * Begins a session.
   * @throws MessagingError `error.link_refused` for a wrong link or wrong credentials, `error.field_missing`,
   *   `error.field_invalid`, `error.storage_unavailable`
   * @throws any error of the `UserAuthenticator`
   */
  async exchange({ token, credentials }: SignIn, request: SignInRequest): Promise<GrantedUserSession> {
    const byHost = credentials !== undefined && credentials !== null;
    if (token === undefined && !byHost) throw new MessagingError('error.field_missing', { field: 'token' });
    if (token !== undefined && byHost) throw new MessagingError('error.field_invalid', { field: 'credentials' });
    const first = this.refreshTokens.first(this.ids.next());
    const session =
      token === undefined ? await this.byHost(credentials, request, first) : await this.byLink(token, request, first);
    if (session === undefined) throw new MessagingError('error.link_refused');
    return this.granted(session, first, this.expiresAt(this.clock.now()));
  }

  /**
   * Refreshes a session. The cookie's value is replaced. The replaced value stays valid for ten seconds. If somebody uses it
   * later, the session ends.
   *
   * @param values the values of our cookies in the request
   * @throws MessagingError `error.session_ended`, `error.storage_unavailable`
   */
  async refresh(values: readonly string[], address: string | undefined): Promise<GrantedUserSession> {
    const token = this.tokenOf(values);
    if (token === undefined) throw new MessagingError('error.session_ended');
    const candidates = this.refreshTokens.next(token);
    const at = this.clock.now();
    const outcome = await this.store.refresh({
      id: token.sessionId,
      hash: token.hash,
      nextHash: candidates[0].hash,
      at,
      expiresAt: this.expiresAt(at),
      graceMs: GRACE_MS,
      address,
    });
    if (outcome.kind !== 'refreshed') {
      this.directory.forget(token.sessionId);
      throw new MessagingError('error.session_ended');
    }
    const { session, hash, expiresAt } = outcome;
    return this.granted(
      session,
      candidates.find((next) => next.hash === hash),
      expiresAt,
    );
  }

  /**
   * Ends the session of a cookie, or of an access token, because a page in a frame has no cookie. Without either, nothing ends.
   * @returns whether the request had a cookie or a token of ours
   * @throws MessagingError `error.storage_unavailable`
   */
  async end(values: readonly string[], { address, headers }: SignInRequest): Promise<boolean> {
    const token = userTokenIn(headers);
    const id = this.tokenOf(values)?.sessionId ?? (token && (await this.access.verify(token))?.userSessionId);
    if (id === undefined || id === '') return false;
    try {
      await this.store.end(id, this.clock.now(), address);
      return true;
    } finally {
      // This also happens after a storage error, because the change may have been committed.
      this.directory.forget(id);
    }
  }

  private async byLink(token: string, { address }: SignInRequest, first: RefreshToken) {
    if (!isLinkSecret(token)) return undefined;
    return this.store.startByLink(hashSecret(token), this.startOf(first, address));
  }

  private async byHost(credentials: unknown, request: SignInRequest, first: RefreshToken) {
    const user = await this.users?.authenticate(credentials, request);
    if (!user) return undefined;
    const accepted = userOf(user, this.users?.operators === true);
    if (typeof accepted !== 'string') return this.store.start(accepted, this.startOf(first, request.address));
    const sentence = `The UserAuthenticator has named a user who is refused: ${accepted}.`;
    faultLog('Sessions', this.clock).warn(sentence, { code: 'user_refused' });
    return undefined;
  }

  private startOf({ sessionId: id, hash }: RefreshToken, address: string | undefined): UserSessionStart {
    const at = this.clock.now();
    return { id, hash, at, expiresAt: this.expiresAt(at), endsAt: at + this.settings.session.longest, address };
  }

  /** Returns when a session that is used now ends, unless it is used again or reaches its longest time. */
  private expiresAt(at: number): number {
    return at + Math.min(this.settings.session.idle, this.settings.session.longest);
  }

  private tokenOf(values: readonly string[]): RefreshToken | undefined {
    for (const value of values) {
      const token = this.refreshTokens.read(value);
      if (token) return token;
    }
    return undefined;
  }

  private async granted(
    session: UserSession,
    token: RefreshToken | undefined,
    expiresAt: number,
  ): Promise<GrantedUserSession> {
    const { token: access_token, expiresIn: expires_in } = await this.access.issue(session);
    const { subject, accountId: account = null, role } = session;
    const seconds = Math.max(1, Math.floor((expiresAt - this.clock.now()) / 1000));
    return {
      view: { access_token, expires_in, user: { subject, account, role } },
      cookie: token && { value: token.text, seconds },
    };
  }
}

/** Returns the user that the host's authenticator has returned, or a text for the log that says what is wrong with him. */
function userOf(user: object, operators: boolean): UserIdentity | string {
  const { subject, account, role }: { subject?: unknown; account?: unknown; role?: unknown } = user;
  if (!isSubject(subject)) return 'subject is not a text of 1 to 128 characters';
  if (isOperatorRole(role)) {
    if (!operators) return 'a role of the operator without `operators: true`';
    return account == null ? { subject, accountId: undefined, role } : 'a role of the operator with an account';
  }
  if (!isAccountRole(role)) return 'an unknown role';
  return isAccountId(account) ? { subject, accountId: account, role } : 'no account';
}
