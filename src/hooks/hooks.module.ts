import { type DynamicModule, Module } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { capabilityModule } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, SHARED_CORE_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule } from '../core/configured-module.js';
import type { OptionsFromFactory } from '../core/core-options.js';
import { GivenOptions } from '../core/given-options.js';
import { MountPoint } from '../core/mount-point.js';
import { invokeFactory } from '../core/port-provider.js';
import {
  type AllFactoryOptions,
  type LoginHookFactoryOptions,
  type LoginHooksModuleAsyncOptions,
  type LoginHooksModuleOptions,
  ofCore,
} from '../messaging/module-options.js';
import { HOOKS_CAPABILITY } from './hooks-capability.js';
import { LOGIN_HOOK_OPTIONS, LoginHookSettings, resolveLoginHookSettings } from './login-hook-options.js';

const OWN_OPTIONS = { hooks: group(LOGIN_HOOK_OPTIONS) } satisfies OptionsOf<LoginHookFactoryOptions>;

/**
 * Log-in hooks: Supabase, Zitadel, Logto, authentik and other log-in systems send their codes through an account. The module is
 * mounted on a shared core, and sends codes on the channels that are mounted there.
 */
@Module({})
export class LoginHooksModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: LoginHooksModuleOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, OWN_OPTIONS);
    return LoginHooksModule.feature(own.core, { useFactory: () => own });
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: LoginHooksModuleAsyncOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
    return LoginHooksModule.feature(own.core, checkFactoryOptions(own, OWN_OPTIONS, {}));
  }

  /**
   * Returns the module on an existing core. Default values come from the core.
   * @internal
   */
  static feature(
    core: DynamicModule,
    factory: OptionsFromFactory<OptionalFields<LoginHookFactoryOptions>> = OF_CORE,
  ): DynamicModule {
    return capabilityModule(LoginHooksModule, MountPoint.of(core), HOOKS_CAPABILITY, {
      imports: [core, ...(factory.imports ?? [])],
      providers: [
        {
          provide: LoginHookSettings,
          useFactory: async (
            { catalogue }: AccountSettings,
            { sms, otp }: AllFactoryOptions,
            ...injected: unknown[]
          ) => {
            const { hooks } = await invokeFactory(factory.useFactory, injected);
            const home = sms?.tariff?.home;
            return resolveLoginHookSettings(hooks, { catalogue, home, otpLimits: otp?.limits });
          },
          inject: [AccountSettings, GivenOptions, ...(factory.inject ?? [])],
        },
      ],
    });
  }
}

const OF_CORE = ofCore(({ hooks }) => ({ hooks }));
