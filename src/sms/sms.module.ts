import { type DynamicModule, Module } from '@nestjs/common';
import type { SmsGraph, SmsModuleAsyncOptions, SmsModuleOptions, ValuesFactory } from '../core/core-options.js';
import { MessagingCore, MessagingValues, MountPoint } from '../core/messaging-core.module.js';
import { providePort } from '../core/port-provider.js';
import { mountController } from '../http/mount-controller.js';
import { SandboxSmsTransport } from '../transports/sandbox/sandbox-sms-transport.js';
import { SmsController } from './sms.controller.js';
import { SmsChannel } from './sms-channel.js';
import { resolveSmsSettings, type SmsOptions, SmsSettings } from './sms-options.js';
import { SmsService } from './sms-service.js';
import { SmsTransport } from './sms-transport.js';

/** SMS by itself: the routes of contract section 3 and the balance. */
@Module({})
export class SmsModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: SmsModuleOptions): DynamicModule {
    const core = 'core' in options ? options.core : MessagingCore.forRoot(coreOptions(options, options));
    return SmsModule.feature(core, options, { useFactory: () => options, inject: [] });
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: SmsModuleAsyncOptions): DynamicModule {
    if ('core' in options) return SmsModule.feature(options.core, options, { inject: [], ...options });
    const useFactory = async (...injected: unknown[]) => {
      const values = await options.useFactory(...injected);
      return coreOptions(values, values);
    };
    return SmsModule.feature(MessagingCore.forRootAsync({ ...options, useFactory }), options);
  }

  /**
   * The module on a core that stands already; by default the values are the core's own `sms`.
   * @internal
   */
  static feature(
    core: DynamicModule,
    graph: SmsGraph = {},
    values: ValuesFactory<SmsOptions> = OF_CORE,
  ): DynamicModule {
    const transport = providePort('sms.transport', SmsTransport, graph.transport ?? SandboxSmsTransport);
    const { path, controllers } = MountPoint.of(core);
    return {
      module: SmsModule,
      global: true,
      imports: [core, ...(values.imports ?? []), ...transport.imports],
      controllers: controllers ? [mountController(SmsController, path)] : [],
      providers: [
        {
          provide: SmsSettings,
          useFactory: async (...injected: unknown[]) => resolveSmsSettings(await values.useFactory(...injected)),
          inject: values.inject ?? [],
        },
        ...transport.providers,
        ...[SmsChannel, SmsService],
      ],
      exports: [SmsService, SmsTransport, SmsSettings],
    };
  }
}

const OF_CORE: ValuesFactory<SmsOptions> = {
  inject: [MessagingValues],
  useFactory: ({ sms }: { sms: SmsOptions }) => sms,
};

/** The core takes from SMS what it needs too. */
function coreOptions<T extends object>(values: T, sms: SmsOptions): T & { readonly sms: SmsOptions } {
  return { ...values, sms };
}
