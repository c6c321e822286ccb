import { type DynamicModule, Injectable, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { capabilityModule } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, SHARED_CORE_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule } from '../core/configured-module.js';
import {
  CORE_FACTORY_OPTIONS,
  CORE_GRAPH_OPTIONS,
  type FactoryImports,
  type OptionsFromFactory,
} from '../core/core-options.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { invokeFactory, providePort } from '../core/port-provider.js';
import { MessagingCore } from '../messaging/messaging-core.module.js';
import {
  ofCore,
  SMS_GRAPH_OPTIONS,
  type SmsGraphOptions,
  type SmsModuleAsyncOptions,
  type SmsModuleOptions,
} from '../messaging/module-options.js';
import { SandboxSmsTransport } from '../sandbox/sandbox-sms-transport.js';
import { SMS_CAPABILITY } from './sms-capability.js';
import { resolveSmsSettings, SMS_OPTIONS, type SmsOptions, SmsSettings } from './sms-options.js';
import { SmsTransport } from './sms-transport.js';

/** SMS without the other capabilities: the routes of SMS and of the balance. */
@Module({})
export class SmsModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: SmsModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, SMS_GRAPH_OPTIONS, SMS_OPTIONS);
      return SmsModule.feature(own.core, own, { useFactory: () => own });
    }
    const { transport: _, ...smsOptions } = checkOptions(
      options,
      CORE_GRAPH_OPTIONS,
      CORE_FACTORY_OPTIONS,
      SMS_GRAPH_OPTIONS,
      SMS_OPTIONS,
    );
    return SmsModule.feature(MessagingCore.build(options, { useFactory: () => withSms(smsOptions) }), options);
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: SmsModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, SMS_GRAPH_OPTIONS, FACTORY_OPTIONS);
      const factory = checkFactoryOptions(own, SMS_OPTIONS, SMS_GRAPH_OPTIONS);
      return SmsModule.feature(own.core, { ...own, imports: factory.imports }, factory);
    }
    const graph = { ...CORE_GRAPH_OPTIONS, ...SMS_GRAPH_OPTIONS };
    const own = checkOptions(options, graph, FACTORY_OPTIONS);
    const factory = checkFactoryOptions(own, { ...CORE_FACTORY_OPTIONS, ...SMS_OPTIONS }, graph);
    const useFactory = async (...injected: unknown[]) => withSms(await factory.useFactory(...injected));
    return SmsModule.feature(MessagingCore.build(options, { ...factory, useFactory }), options);
  }

  /**
   * Returns the module on an existing core. By default it reads `sms` of the core's options.
   * @internal
   */
  static feature(
    core: DynamicModule,
    graph: SmsGraphOptions & FactoryImports = {},
    factory: OptionsFromFactory<SmsOptions | undefined> = OF_CORE,
  ): DynamicModule {
    const transport = providePort('sms.transport', SmsTransport, graph.transport ?? SandboxSmsTransport);
    return capabilityModule(SmsModule, MountPoint.of(core), SMS_CAPABILITY, {
      imports: [core, ...(graph.imports ?? []), ...transport.imports],
      providers: [
        {
          provide: SmsSettings,
          useFactory: async (...injected: unknown[]) =>
            resolveSmsSettings(await invokeFactory(factory.useFactory, injected)),
          inject: factory.inject ?? [],
        },
        ...transport.providers,
        ...(graph.transport === undefined ? [SandboxNotice] : []),
      ],
      exports: transport.exports,
    });
  }
}

const OF_CORE = ofCore(({ sms }) => sms);

/** Moves the options of SMS alone under `sms`, where the core expects them. */
function withSms<T extends SmsOptions>(options: T): T & { readonly sms: SmsOptions } {
  return { ...options, sms: options };
}

/** Logs at the start that SMS reach no phone, if the sandbox is used because no transport was given. */
@Injectable()
class SandboxNotice implements OnModuleInit {
  constructor(private readonly transport: SmsTransport) {}

  onModuleInit(): void {
    // A test may have overridden the transport.
    if (this.transport.name !== 'sandbox') return;
    new Logger('Messaging').log('SMS go to the sandbox and reach no phone: no sms.transport was given.');
  }
}
