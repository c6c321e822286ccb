import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { CORE_GRAPH_OPTIONS, CORE_OPTIONS, type FactoryImports, type ValuesFactory } from '../core/core-options.js';
import { FACTORY_OPTIONS, knownOptions, knownValues, SHARED_CORE_OPTIONS } from '../core/known-options.js';
import { MessagingValues } from '../core/messaging-values.js';
import { isOnSharedCore, MountPoint } from '../core/mount-point.js';
import { invokeFactory, providePort } from '../core/port-provider.js';
import { MessagingCore } from '../messaging/messaging-core.module.js';
import {
  type AllValues,
  MSGAPP_GRAPH_OPTIONS,
  type MsgappGraph,
  type MsgappModuleAsyncOptions,
  type MsgappModuleOptions,
  type MsgappValues,
  ofCore,
} from '../messaging/module-options.js';
import { SandboxMsgappTransport } from '../sandbox/sandbox-msgapp-transport.js';
import { msgappCapability } from './msgapp-capability.js';
import { MSGAPP_OPTIONS, MsgappSettings, resolveChannelName, resolveMsgappSettings } from './msgapp-settings.js';
import { MsgappTransport } from './msgapp-transport.js';
import { resolveCredentialKeys } from './sessions/credential-cipher.js';
import { CredentialVault, SessionVault } from './sessions/credential-vault.js';
import { SessionStore } from './sessions/session-store.js';

/**
 * One messaging-app channel under its own name. Each channel of an application is a separate module with
 * its own services; with several channels, inject them by `channelToken`.
 */
@Module({})
export class MsgappModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: MsgappModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, MSGAPP_GRAPH_OPTIONS, MSGAPP_OPTIONS);
      return MsgappModule.feature(own.core, own, { useFactory: () => own });
    }
    const {
      channel: _,
      transport: __,
      ...values
    } = knownOptions(options, CORE_GRAPH_OPTIONS, CORE_OPTIONS, MSGAPP_GRAPH_OPTIONS, MSGAPP_OPTIONS);
    return MsgappModule.feature(MessagingCore.build(options, { useFactory: () => withMsgapp(values) }), options);
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: MsgappModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = knownOptions(options, SHARED_CORE_OPTIONS, MSGAPP_GRAPH_OPTIONS, FACTORY_OPTIONS);
      const values = knownValues(own, MSGAPP_OPTIONS, MSGAPP_GRAPH_OPTIONS);
      return MsgappModule.feature(own.core, { ...own, imports: values.imports }, values);
    }
    const graph = { ...CORE_GRAPH_OPTIONS, ...MSGAPP_GRAPH_OPTIONS };
    const own = knownOptions(options, graph, FACTORY_OPTIONS);
    const values = knownValues(own, { ...CORE_OPTIONS, ...MSGAPP_OPTIONS }, graph);
    const useFactory = async (...injected: unknown[]) => withMsgapp(await values.useFactory(...injected));
    return MsgappModule.feature(MessagingCore.build(options, { ...values, useFactory }), options);
  }

  /**
   * The module on an existing core; the default values are the core's own `msgapp`.
   * @internal
   */
  static feature(
    core: DynamicModule,
    graph: MsgappGraph & FactoryImports = {},
    values: ValuesFactory<MsgappValues> = ofChannel(0, 1),
  ): DynamicModule {
    const channel = resolveChannelName(graph.channel);
    const transport = providePort('msgapp.transport', MsgappTransport, graph.transport ?? SandboxMsgappTransport);
    const { path, controllers } = MountPoint.of(core);
    const mount = { path: `${path}/${channel}`, controllers };
    return capabilityModule(MsgappModule, mount, msgappCapability(channel), {
      imports: [core, ...(graph.imports ?? []), ...transport.imports],
      providers: [...settingsProviders(channel, values), ...transport.providers],
    });
  }

  /**
   * All channels of `MessagingModule`, which take their values from the core.
   * @internal
   */
  static features(core: DynamicModule, graphs: readonly (MsgappGraph & FactoryImports)[]): DynamicModule[] {
    return graphs.map((graph, index) => MsgappModule.feature(core, graph, ofChannel(index, graphs.length)));
  }
}

/** The options of one channel, as its factory returned them. */
abstract class ChannelValues {}

function settingsProviders(channel: string, { useFactory, inject = [] }: ValuesFactory<MsgappValues>): Provider[] {
  return [
    {
      provide: ChannelValues,
      useFactory: (...injected: unknown[]) => invokeFactory(useFactory, injected),
      inject,
    },
    {
      provide: MsgappSettings,
      useFactory: (options: MsgappValues, { sms }: AllValues) =>
        resolveMsgappSettings({ ...options, channel }, sms?.tariff?.home),
      inject: [ChannelValues, MessagingValues],
    },
    {
      provide: SessionVault,
      useFactory: ({ credentialsKey }: MsgappValues, store: SessionStore, ids: IdGenerator) =>
        new CredentialVault(store, resolveCredentialKeys(credentialsKey), ids),
      inject: [ChannelValues, SessionStore, IdGenerator],
    },
  ];
}

/** Returns a factory of the core's values for the channel at that index. */
function ofChannel(index: number, count: number): ValuesFactory<MsgappValues> {
  return ofCore(({ msgapp = [] }) => {
    const all: readonly MsgappValues[] = [msgapp].flat();
    const values = all.length === count ? all[index] : undefined;
    if (values) return values;
    throw new MessagingOptionsError(
      `Option msgapp must be given as often beside useFactory as in its values; there are ${count} and ${all.length}.`,
    );
  });
}

/** Moves the options of a single channel under `msgapp`, where the core expects them. */
function withMsgapp<T extends MsgappValues>(values: T): T & { readonly msgapp: MsgappValues } {
  return { ...values, msgapp: values };
}
