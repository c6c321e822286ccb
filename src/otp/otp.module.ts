import { type DynamicModule, Module } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { type Capability, capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { CORE_GRAPH_OPTIONS, CORE_OPTIONS, type FactoryImports, type ValuesFactory } from '../core/core-options.js';
import { FACTORY_OPTIONS, knownOptions, knownValues, SHARED_CORE_OPTIONS } from '../core/known-options.js';
import { MessagingValues } from '../core/messaging-values.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { invokeFactory } from '../core/port-provider.js';
import { MessagingCore } from '../messaging/messaging-core.module.js';
import {
  type AllValues,
  type OtpModuleAsyncOptions,
  type OtpModuleOptions,
  type OtpValues,
  ofCore,
  SMS_GRAPH_OPTIONS,
  type SmsGraph,
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

const VALUES = { otp: group(OTP_OPTIONS) } satisfies OptionsOf<OtpValues>;

/**
 * One-time passcodes. If the option `sms` is given, the module mounts SMS too. On a shared core, the module sends codes on the
 * channels that are mounted there.
 */
@Module({})
export class OtpModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: OtpModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, VALUES);
      return OtpModule.feature(own.core, { useFactory: () => own });
    }
    const sets = { sms: group({ ...SMS_GRAPH_OPTIONS, ...SMS_OPTIONS }) };
    const { sms } = knownOptions(options, CORE_GRAPH_OPTIONS, CORE_OPTIONS, sets, VALUES);
    return OtpModule.withSms(MessagingCore.build(options, { useFactory: () => options }), sms);
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: OtpModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
      return OtpModule.feature(own.core, knownValues(own, VALUES, {}));
    }
    const { sms } = knownOptions(options, CORE_GRAPH_OPTIONS, FACTORY_OPTIONS, { sms: group(SMS_GRAPH_OPTIONS) });
    const values = knownValues(options, { ...CORE_OPTIONS, sms: group(SMS_OPTIONS), ...VALUES }, CORE_GRAPH_OPTIONS);
    const { imports } = values;
    return OtpModule.withSms(MessagingCore.build(options, values), sms && { ...sms, imports });
  }

  /**
   * Returns the module on an existing core. Default values come from the core.
   * @internal
   */
  static feature(
    core: DynamicModule,
    values: ValuesFactory<OptionalFields<OtpValues>> = OF_CORE,
    channels: readonly DynamicModule[] = [],
  ): DynamicModule {
    return capabilityModule(OtpModule, MountPoint.of(core), CAPABILITY, {
      imports: [core, ...channels, ...(values.imports ?? [])],
      providers: [
        {
          provide: OtpSettings,
          useFactory: async ({ catalogue }: AccountSettings, { sms }: AllValues, ...injected: unknown[]) => {
            const { otp } = await invokeFactory(values.useFactory, injected);
            return resolveOtpSettings(otp, { catalogue, home: sms?.tariff?.home });
          },
          inject: [AccountSettings, MessagingValues, ...(values.inject ?? [])],
        },
      ],
    });
  }

  private static withSms(core: DynamicModule, sms: (SmsGraph & FactoryImports) | undefined): DynamicModule {
    return OtpModule.feature(core, OF_CORE, sms ? [SmsModule.feature(core, sms)] : []);
  }
}

const OF_CORE = ofCore(({ otp }) => ({ otp }));
