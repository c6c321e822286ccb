import { type DynamicModule, Module } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { type Capability, capabilityModule } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, SHARED_CORE_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule } from '../core/configured-module.js';
import {
  CORE_FACTORY_OPTIONS,
  CORE_GRAPH_OPTIONS,
  type FactoryImports,
  type OptionsFromFactory,
} from '../core/core-options.js';
import { GivenOptions } from '../core/given-options.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { invokeFactory } from '../core/port-provider.js';
import { MessagingCore } from '../messaging/messaging-core.module.js';
import {
  type AllFactoryOptions,
  type OtpFactoryOptions,
  type OtpModuleAsyncOptions,
  type OtpModuleOptions,
  ofCore,
  SMS_GRAPH_OPTIONS,
  type SmsGraphOptions,
} from '../messaging/module-options.js';
import { PolicyStore } from '../outbox/policy/policy-store.js';
import { provideErasure } from '../outbox/retention/erasure-service.js';
import { RetentionStore } from '../outbox/retention/retention-store.js';
import { SmsModule } from '../sms/sms.module.js';
import { SMS_OPTIONS } from '../sms/sms-options.js';
import { codeErasure } from './code-erasure.js';
import { otpOpenapi } from './otp.openapi.js';
import { OTP_OPTIONS } from './otp-options.js';
import { OtpService } from './otp-service.js';
import { OtpSettings, resolveOtpSettings } from './otp-settings.js';
import { OtpTextSource } from './otp-text-source.js';

/** The part of the module that does not depend on the options. */
const CAPABILITY: Capability = {
  controllers: [otpOpenapi],
  providers: [OtpTextSource, OtpService, provideErasure(codeErasure, [RetentionStore, PolicyStore])],
  exports: [OtpService, OtpSettings],
};

const OWN_OPTIONS = { otp: group(OTP_OPTIONS) } satisfies OptionsOf<OtpFactoryOptions>;

/**
 * One-time passcodes. If the option `sms` is given, the module mounts SMS too. On a shared core, the module sends codes on the
 * channels that are mounted there.
 */
@Module({})
export class OtpModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: OtpModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, OWN_OPTIONS);
      return OtpModule.feature(own.core, { useFactory: () => own });
    }
    const sets = { sms: group({ ...SMS_GRAPH_OPTIONS, ...SMS_OPTIONS }) };
    const { sms } = checkOptions(options, CORE_GRAPH_OPTIONS, CORE_FACTORY_OPTIONS, sets, OWN_OPTIONS);
    return OtpModule.withSms(MessagingCore.build(options, { useFactory: () => options }), sms);
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: OtpModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
      return OtpModule.feature(own.core, checkFactoryOptions(own, OWN_OPTIONS, {}));
    }
    const { sms } = checkOptions(options, CORE_GRAPH_OPTIONS, FACTORY_OPTIONS, { sms: group(SMS_GRAPH_OPTIONS) });
    const factory = checkFactoryOptions(
      options,
      { ...CORE_FACTORY_OPTIONS, sms: group(SMS_OPTIONS), ...OWN_OPTIONS },
      CORE_GRAPH_OPTIONS,
    );
    const { imports } = factory;
    return OtpModule.withSms(MessagingCore.build(options, factory), sms && { ...sms, imports });
  }

  /**
   * Returns the module on an existing core. The default options come from the core.
   * @internal
   */
  static feature(
    core: DynamicModule,
    factory: OptionsFromFactory<OptionalFields<OtpFactoryOptions>> = OF_CORE,
    channels: readonly DynamicModule[] = [],
  ): DynamicModule {
    return capabilityModule(OtpModule, MountPoint.of(core), CAPABILITY, {
      imports: [core, ...channels, ...(factory.imports ?? [])],
      providers: [
        {
          provide: OtpSettings,
          useFactory: async ({ catalogue }: AccountSettings, { sms }: AllFactoryOptions, ...injected: unknown[]) => {
            const { otp } = await invokeFactory(factory.useFactory, injected);
            return resolveOtpSettings(otp, { catalogue, home: sms?.tariff?.home });
          },
          inject: [AccountSettings, GivenOptions, ...(factory.inject ?? [])],
        },
      ],
    });
  }

  private static withSms(core: DynamicModule, sms: (SmsGraphOptions & FactoryImports) | undefined): DynamicModule {
    return OtpModule.feature(core, OF_CORE, sms ? [SmsModule.feature(core, sms)] : []);
  }
}

const OF_CORE = ofCore(({ otp }) => ({ otp }));
