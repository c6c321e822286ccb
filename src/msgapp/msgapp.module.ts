import { type DynamicModule, Module, type Provider } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { capabilityModule } from '../core/capability.js';
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
import { invokeFactory, providePort } from '../core/port-provider.js';
import { MessagingCore } from '../messaging/messaging-core.module.js';
import {
  type AllFactoryOptions,
  MSGAPP_GRAPH_OPTIONS,
  type MsgappFactoryOptions,
  type MsgappGraphOptions,
  type MsgappModuleAsyncOptions,
  type MsgappModuleOptions,
  ofCore,
} from '../messaging/module-options.js';
import { SandboxMsgappTransport } from '../sandbox/sandbox-msgapp-transport.js';
import { msgappCapability } from './msgapp-capability.js';
import { MSGAPP_OPTIONS, MsgappSettings, resolveChannelName, resolveMsgappSettings } from './msgapp-options.js';
import { MsgappTransport } from './msgapp-transport.js';
import { resolveCredentialKeys } from './sessions/credential-cipher.js';
import { CredentialVault, SessionVault } from './sessions/credential-vault.js';
import { SessionStore } from './sessions/session-store.js';

/**
 * One messaging-app channel under its own name. Each channel of an application is a separate module with its own services. If
 * there are several channels, inject their services by `channelToken`.
 */
@Module({})
export class MsgappModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: MsgappModuleOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, MSGAPP_GRAPH_OPTIONS, MSGAPP_OPTIONS);
      return MsgappModule.feature(own.core, own, { useFactory: () => own });
    }
    const {
      channel: _,
      transport: __,
      ...channelOptions
    } = checkOptions(options, CORE_GRAPH_OPTIONS, CORE_FACTORY_OPTIONS, MSGAPP_GRAPH_OPTIONS, MSGAPP_OPTIONS);
    return MsgappModule.feature(
      MessagingCore.build(options, { useFactory: () => withMsgapp(channelOptions) }),
      options,
    );
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: MsgappModuleAsyncOptions): DynamicModule {
    if (isOnSharedCore(options)) {
      const own = checkOptions(options, SHARED_CORE_OPTIONS, MSGAPP_GRAPH_OPTIONS, FACTORY_OPTIONS);
      const factory = checkFactoryOptions(own, MSGAPP_OPTIONS, MSGAPP_GRAPH_OPTIONS);
      return MsgappModule.feature(own.core, { ...own, imports: factory.imports }, factory);
    }
    const graph = { ...CORE_GRAPH_OPTIONS, ...MSGAPP_GRAPH_OPTIONS };
    const own = checkOptions(options, graph, FACTORY_OPTIONS);
    const factory = checkFactoryOptions(own, { ...CORE_FACTORY_OPTIONS, ...MSGAPP_OPTIONS }, graph);
    const useFactory = async (...injected: unknown[]) => withMsgapp(await factory.useFactory(...injected));
    return MsgappModule.feature(MessagingCore.build(options, { ...factory, useFactory }), options);
  }

  /**
   * Returns the module on an existing core. By default it reads `msgapp` of the core's options.
   * @internal
   */
  static feature(
    core: DynamicModule,
    graph: MsgappGraphOptions & FactoryImports = {},
    factory: OptionsFromFactory<MsgappFactoryOptions> = ofChannel(0, 1),
  ): DynamicModule {
    const channel = resolveChannelName(graph.channel);
    const transport = providePort('msgapp.transport', MsgappTransport, graph.transport ?? SandboxMsgappTransport);
    const { path, controllers } = MountPoint.of(core);
    const mount = { path: `${path}/${channel}`, controllers };
    return capabilityModule(MsgappModule, mount, msgappCapability(channel), {
      imports: [core, ...(graph.imports ?? []), ...transport.imports],
      providers: [...settingsProviders(channel, factory), ...transport.providers],
    });
  }

  /**
   * Returns all channels of `MessagingModule`. They read their options from those of the core.
   * @internal
   */
  static features(core: DynamicModule, graphs: readonly (MsgappGraphOptions & FactoryImports)[]): DynamicModule[] {
    return graphs.map((graph, index) => MsgappModule.feature(core, graph, ofChannel(index, graphs.length)));
  }
}

/** The options of one channel, as its factory returned them. */
abstract class ChannelOptions {}

function settingsProviders(
  channel: string,
  { useFactory, inject = [] }: OptionsFromFactory<MsgappFactoryOptions>,
): Provider[] {
  return [
    {
      provide: ChannelOptions,
      useFactory: (...injected: unknown[]) => invokeFactory(useFactory, injected),
      inject,
    },
    {
      provide: MsgappSettings,
      useFactory: (options: MsgappFactoryOptions, { sms }: AllFactoryOptions) =>
        resolveMsgappSettings({ ...options, channel }, sms?.tariff?.home),
      inject: [ChannelOptions, GivenOptions],
    },
    {
      provide: SessionVault,
      useFactory: ({ credentialsKey }: MsgappFactoryOptions, store: SessionStore, ids: IdGenerator) =>
        new CredentialVault(store, resolveCredentialKeys(credentialsKey), ids),
      inject: [ChannelOptions, SessionStore, IdGenerator],
    },
  ];
}

/** Returns a factory that takes the options of the channel at that index from those of the core. */
function ofChannel(index: number, count: number): OptionsFromFactory<MsgappFactoryOptions> {
  return ofCore(({ msgapp = [] }) => {
    const all: readonly MsgappFactoryOptions[] = [msgapp].flat();
    const ofIndex = all.length === count ? all[index] : undefined;
    if (ofIndex) return ofIndex;
    throw new MessagingOptionsError(
      `Option msgapp must be given as many times next to useFactory as in the options that it returns; there are ${count} and ${all.length}.`,
    );
  });
}

/** Moves the options of a single channel under `msgapp`, where the core expects them. */
function withMsgapp<T extends MsgappFactoryOptions>(options: T): T & { readonly msgapp: MsgappFactoryOptions } {
  return { ...options, msgapp: options };
}
