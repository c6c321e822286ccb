import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { AccountSettings } from '../accounts/account-options.js';
import { Authenticator } from '../accounts/authenticator.js';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { HttpSettings } from '../http/http-settings.js';
import type { Surroundings } from './controller-description.js';

/** What the messaging core of an application is set to. */
export function surroundingsOf(app: INestApplicationContext): Surroundings {
  return {
    http: app.get(HttpSettings, { strict: false }),
    accounts: app.get(AccountSettings, { strict: false }),
    userTokens: hasUserTokens(app.get(ModulesContainer)),
    get: (token) => app.get(token, { strict: false }),
  };
}

/** Whether the authenticator sees a verifier; one that the host provides elsewhere is not asked. */
function hasUserTokens(modules: ModulesContainer): boolean {
  return [...modules.values()].some(
    (module) =>
      module.providers.has(Authenticator) &&
      (module.providers.has(UserTokenVerifier) ||
        [...module.imports].some(({ exports }) => exports.has(UserTokenVerifier))),
  );
}
