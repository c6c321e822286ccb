import { Injectable } from '@nestjs/common';
import { isAccountRole, isOperatorRole } from '../../accounts/keys/permissions.js';
import { type OwnUser, OwnUserTokens } from '../../accounts/users/own-user-tokens.js';
import { Clock } from '../../common/clock.js';
import { unverifiedClaims } from '../../common/jwt-claims.js';
import { ManagementKeys } from './management-keys.js';
import { ACCESS_SECONDS } from './user-session.api.js';
import { UserSessionDirectory } from './user-session-directory.js';
import type { UserSession } from './user-session-store.js';

const ISSUER = 'nestjs-messaging';
const TYPE = 'at+jwt';
const ALGORITHM = 'HS256';

/** An access token, and for how many seconds it is valid. */
export interface AccessToken {
  readonly token: string;
  readonly expiresIn: number;
}

/**
 * Issues and verifies the access tokens of user sessions (RFC 9068). Both use only our own clock. The session says who the user
 * is and which role he has, not the token.
 */
@Injectable()
export class AccessTokens extends OwnUserTokens {
  constructor(
    private readonly keys: ManagementKeys,
    private readonly sessions: UserSessionDirectory,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Issues a token of a session. The token does not outlive the session. */
  async issue({ id, subject, accountId, role, endsAt }: UserSession): Promise<AccessToken> {
    const { SignJWT } = await jose();
    const { audience, access } = this.keys.present;
    const now = Math.floor(this.clock.now() / 1000);
    const expiresIn = Math.max(1, Math.min(ACCESS_SECONDS, Math.floor(endsAt / 1000) - now));
    const token = await new SignJWT({ sid: id, role, ...(accountId !== undefined && { account: accountId }) })
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
      .setIssuer(ISSUER)
      .setAudience(audience)
      .setSubject(subject)
      .setIssuedAt(now)
      .setExpirationTime(now + expiresIn)
      .sign(access);
    return { token, expiresIn };
  }

  override owns(token: string): boolean {
    return this.keysOf(token) !== undefined;
  }

  override async verify(token: string): Promise<OwnUser | undefined> {
    const keys = this.keysOf(token);
    if (keys === undefined) return undefined;
    const { jwtVerify, errors } = await jose();
    try {
      const { payload } = await jwtVerify(token, keys.access, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: ISSUER,
        audience: keys.audience,
        requiredClaims: ['exp', 'sub', 'sid', 'role'],
        currentDate: new Date(this.clock.now()),
      });
      const session = typeof payload.sid === 'string' ? await this.sessions.find(payload.sid) : undefined;
      return session && userOf(session, payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** Returns the keys of the secret that a token names. It verifies nothing. */
  private keysOf(token: string) {
    const claims = unverifiedClaims(token);
    if (claims?.iss !== ISSUER) return undefined;
    return this.keys.all.find(({ audience }) => audience === claims.aud);
  }
}

/** Loads jose when the first token is issued or verified. */
function jose() {
  return import('jose');
}

/** Returns the user of a session. Undefined if the token names another user. */
function userOf(
  { id: userSessionId, subject, accountId, role }: UserSession,
  claims: Readonly<Record<string, unknown>>,
): OwnUser | undefined {
  if (claims.sub !== subject || claims.role !== role || claims.account !== accountId) return undefined;
  if (isOperatorRole(role)) return { subject, role, userSessionId };
  return isAccountRole(role) && accountId !== undefined ? { subject, accountId, role, userSessionId } : undefined;
}
