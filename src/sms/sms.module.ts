import { type DynamicModule, Injectable, Logger, Module, type OnModuleInit } from '@nestjs/common';
import {
  CORE_GRAPH_OPTIONS,
  CORE_OPTIONS,
  type FactoryImports,
  SMS_GRAPH_OPTIONS,
  type SmsGraph,
  type SmsModuleAsyncOptions,
  type SmsModuleOptions,
  type ValuesFactory,
} from '../core/core-options.js';
import { FACTORY_OPTIONS, knownOptions, knownValues, SHARED_CORE_OPTIONS } from '../core/known-options.js';
import { MessagingCore } from '../core/messaging-core.module.js';
import { MessagingValues } from '../core/messaging-values.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { invokeFactory, providePort } from '../core/port-provider.js';
import { mountController } from '../http/mount-controller.js';
import { providePurge } from '../outbox/purger.js';
import { SandboxSmsTransport } from '../sandbox/sandbox-sms-transport.js';
import { OptOutDirectory } from './opt-out/opt-out-directory.js';
import { OptOutIntake } from './opt-out/opt-out-intake.js';
import { OptOutList, OptOutService } from './opt-out/opt-out-service.js';
import { CarrierSink } from './receipts/carrier-sink.js';
import { partPurge } from './receipts/part-purge.js';
import { PartStore } from './receipts/part-store.js';
import { ReceiptIntake } from './receipts/receipt-intake.js';
import { SubmitRecord } from './receipts/submit-record.js';
import { SmsController } from './sms.controller.js';
import { SmsCallbackController } from './sms-callback.controller.js';
import { SmsCallbacks } from './sms-callbacks.js';
import { SmsChannel } from './sms-channel.js';
import { resolveSmsSettings, SMS_OPTIONS, type SmsOptions, SmsSettings } from './sms-options.js';
import { SmsService } from './sms-service.js';
import { SmsTransport } from './sms-transport.js';

/** SMS by itself: the routes of contract section 3 and the balance. */
@Module({})
export class SmsModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: SmsModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, SMS_GRAPH_OPTIONS, SMS_OPTIONS);
      return SmsModule.feature(own.core, own, { useFactory: () => own });
    }
    const { transport: _, ...values } = knownOptions(
      options,
      CORE_GRAPH_OPTIONS,
      CORE_OPTIONS,
      SMS_GRAPH_OPTIONS,
      SMS_OPTIONS,
    );
    return SmsModule.feature(MessagingCore.build(options, { useFactory: () => withSms(values) }), options);
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: SmsModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, SMS_GRAPH_OPTIONS, FACTORY_OPTIONS);
      const useFactory = knownValues(own.useFactory, SMS_OPTIONS, SMS_GRAPH_OPTIONS);
      return SmsModule.feature(own.core, own, { ...own, useFactory });
    }
    const graph = { ...CORE_GRAPH_OPTIONS, ...SMS_GRAPH_OPTIONS };
    const own = knownOptions(options, graph, FACTORY_OPTIONS);
    const given = knownValues(own.useFactory, { ...CORE_OPTIONS, ...SMS_OPTIONS }, graph);
    const useFactory = async (...injected: unknown[]) => withSms(await invokeFactory(given, injected));
    return SmsModule.feature(MessagingCore.build(options, { ...options, useFactory }), options);
  }

  /**
   * The module on a core that stands already; by default the values are the core's own `sms`.
   * @internal
   */
  static feature(
    core: DynamicModule,
    graph: SmsGraph & FactoryImports = {},
    values: ValuesFactory<SmsOptions> = OF_CORE,
  ): DynamicModule {
    const transport = providePort('sms.transport', SmsTransport, graph.transport ?? SandboxSmsTransport);
    const { path, controllers } = MountPoint.of(core);
    return {
      module: SmsModule,
      global: true,
      imports: [core, ...(graph.imports ?? []), ...transport.imports],
      controllers: controllers ? [SmsController, SmsCallbackController].map((each) => mountController(each, path)) : [],
      providers: [
        {
          provide: SmsSettings,
          useFactory: async (...injected: unknown[]) =>
            resolveSmsSettings(await invokeFactory(values.useFactory, injected)),
          inject: values.inject ?? [],
        },
        ...transport.providers,
        ...(graph.transport === undefined ? [SandboxNotice] : []),
        ...[OptOutDirectory, OptOutList, OptOutIntake, OptOutService],
        ...[ReceiptIntake, CarrierSink, SubmitRecord, SmsChannel, SmsCallbacks, SmsService],
        providePurge(PartStore, partPurge),
      ],
      exports: [SmsService, OptOutService, SmsSettings, ...transport.exports],
    };
  }
}

const OF_CORE: ValuesFactory<SmsOptions> = {
  inject: [MessagingValues],
  useFactory: ({ sms }: { sms: SmsOptions }) => sms,
};

/** Options of SMS alone stand beside the core's; the core wants them by themselves. */
function withSms<T extends SmsOptions>(values: T): T & { readonly sms: SmsOptions } {
  return { ...values, sms: values };
}

/** Says at start, where the sandbox was nobody's choice, that the service reaches nobody. It changes nothing else. */
@Injectable()
class SandboxNotice implements OnModuleInit {
  constructor(private readonly transport: SmsTransport) {}

  onModuleInit(): void {
    // A test may have put another in its place.
    if (this.transport.name !== 'sandbox') return;
    new Logger('Messaging').log('SMS go to the sandbox and reach no phone: no sms.transport was given.');
  }
}
