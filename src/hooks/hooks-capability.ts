import type { FactoryProvider } from '@nestjs/common';
import { IdGenerator } from '../common/ids.js';
import { Sealer } from '../common/sealer.js';
import type { Capability } from '../core/capability.js';
import { providePurge } from '../outbox/purger.js';
import { provideErasure } from '../outbox/retention/erasure-service.js';
import { RetentionStore } from '../outbox/retention/retention-store.js';
import { hookCallOpenapi } from './calls/hook-call.openapi.js';
import { LoginCodes } from './calls/login-code.js';
import { loginCodePurge } from './calls/login-code-eraser.js';
import { LoginHookCallStore } from './calls/login-hook-call-store.js';
import { LoginHookCalls } from './calls/login-hook-calls.js';
import { loginCodeErasure } from './calls/number-erasure.js';
import { hooksOpenapi } from './hooks.openapi.js';
import { LoginHookSettings } from './login-hook-options.js';
import { LoginHookSecrets } from './login-hook-secrets.js';
import { LoginHookService } from './login-hook-service.js';
import { LoginHookStore } from './login-hook-store.js';

const SEALER: FactoryProvider<Sealer> = {
  provide: Sealer,
  useFactory: ({ keys }: LoginHookSettings, ids: IdGenerator) => new Sealer(keys, ids),
  inject: [LoginHookSettings, IdGenerator],
};

/** The part of the module that does not depend on the options. */
export const HOOKS_CAPABILITY: Capability = {
  stores: [LoginHookStore, LoginHookCallStore],
  controllers: [hooksOpenapi, hookCallOpenapi],
  providers: [
    SEALER,
    LoginHookSecrets,
    LoginCodes,
    LoginHookCalls,
    LoginHookService,
    providePurge(LoginHookCallStore, loginCodePurge),
    provideErasure(loginCodeErasure, [RetentionStore, LoginHookStore]),
  ],
  exports: [LoginHookService, LoginHookSettings],
};
