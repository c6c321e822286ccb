import type { FactoryProvider } from '@nestjs/common';
import { Authenticator } from '../../accounts/keys/authenticator.js';
import { DAY_MS } from '../../common/time.js';
import type { Capability } from '../../core/capability.js';
import { providePurge } from '../../outbox/purger.js';
import { AccessTokens } from './access-tokens.js';
import { GuessLimit } from './guess-limit.js';
import { ManagementKeys } from './management-keys.js';
import { ManagementService } from './management-service.js';
import { RefreshTokens } from './refresh-tokens.js';
import { linksOpenapi, sessionOpenapi } from './user-session.openapi.js';
import { UserSessionDirectory } from './user-session-directory.js';
import { UserSessionService } from './user-session-service.js';
import { UserSessionStore } from './user-session-store.js';

/** Accepts the tokens that we issue ourselves. */
const OWN_TOKENS: FactoryProvider<void> = {
  provide: Symbol('tokens of ours'),
  useFactory: (authenticator: Authenticator, tokens: AccessTokens) => {
    authenticator.ownTokens = tokens;
  },
  inject: [Authenticator, AccessTokens],
};

/** How long links and sessions are kept after their end, in milliseconds. */
const KEPT_MS = DAY_MS;

const SESSIONS: NonNullable<Capability['providers']> = [
  ManagementKeys,
  UserSessionDirectory,
  AccessTokens,
  RefreshTokens,
  GuessLimit,
  UserSessionService,
  ManagementService,
  OWN_TOKENS,
  providePurge(UserSessionStore, (store) => ({
    what: 'sessions of users',
    keepMs: KEPT_MS,
    purge: (before, limit) => store.purge(before, limit),
  })),
];

/** The parts of sign-in and user sessions. */
export const USER_SESSION_CAPABILITY: Capability = {
  stores: [UserSessionStore],
  controllers: [sessionOpenapi, linksOpenapi],
  providers: [...SESSIONS],
  exports: [ManagementService],
};
