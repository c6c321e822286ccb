import { type DynamicModule, Module } from '@nestjs/common';
import { AccountSettings } from '../accounts/account-options.js';
import type {
  FactoryImports,
  OtpModuleAsyncOptions,
  OtpModuleOptions,
  OtpValues,
  SmsGraph,
  ValuesFactory,
} from '../core/core-options.js';
import { knownOptions, knownValues } from '../core/known-options.js';
import { MessagingCore } from '../core/messaging-core.module.js';
import { MessagingValues } from '../core/messaging-values.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { OPTION_NAMES } from '../core/option-names.js';
import { invokeFactory } from '../core/port-provider.js';
import { mountController } from '../http/mount-controller.js';
import { SmsModule } from '../sms/sms.module.js';
import { OtpController } from './otp.controller.js';
import { OtpService } from './otp-service.js';
import { OtpSettings, resolveOtpSettings } from './otp-settings.js';
import { OtpTextSource } from './otp-text-source.js';

/**
 * One-time passcodes (contract section 4), with SMS beside it where `sms` is given; on a shared core the channels are those
 * that stand there.
 */
@Module({})
export class OtpModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: OtpModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, OPTION_NAMES.otpOnCore);
      return OtpModule.feature(own.core, { useFactory: () => own });
    }
    const { sms } = knownOptions(options, OPTION_NAMES.otp);
    return OtpModule.withSms(MessagingCore.build(options, { useFactory: () => options }), sms);
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: OtpModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, OPTION_NAMES.otpOnCoreAsync);
      const useFactory = knownValues(own.useFactory, OPTION_NAMES.otpOnCoreValues);
      return OtpModule.feature(own.core, { ...own, useFactory });
    }
    const { sms } = knownOptions(options, OPTION_NAMES.otpAsync);
    const useFactory = knownValues(options.useFactory, OPTION_NAMES.otpValues);
    const { imports } = options;
    return OtpModule.withSms(MessagingCore.build(options, { ...options, useFactory }), sms && { ...sms, imports });
  }

  /**
   * The module on a core that stands already; by default the values are the core's own.
   * @internal
   */
  static feature(
    core: DynamicModule,
    values: ValuesFactory<OtpValues> = OF_CORE,
    channels: readonly DynamicModule[] = [],
  ): DynamicModule {
    const { path, controllers } = MountPoint.of(core);
    return {
      module: OtpModule,
      global: true,
      imports: [core, ...channels, ...(values.imports ?? [])],
      controllers: controllers ? [mountController(OtpController, path)] : [],
      providers: [
        {
          provide: OtpSettings,
          useFactory: async ({ catalogue }: AccountSettings, { sms }: MessagingValues, ...injected: unknown[]) => {
            const { otp } = await invokeFactory(values.useFactory, injected);
            return resolveOtpSettings(otp, { catalogue, home: sms?.tariff?.home });
          },
          inject: [AccountSettings, MessagingValues, ...(values.inject ?? [])],
        },
        ...[OtpTextSource, OtpService],
      ],
      exports: [OtpService, OtpSettings],
    };
  }

  private static withSms(core: DynamicModule, sms: (SmsGraph & FactoryImports) | undefined): DynamicModule {
    return OtpModule.feature(core, OF_CORE, sms ? [SmsModule.feature(core, sms)] : []);
  }
}

const OF_CORE: ValuesFactory<OtpValues> = {
  inject: [MessagingValues],
  useFactory: (values: OtpValues) => values,
};
