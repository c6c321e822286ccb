import { type DynamicModule, Module } from '@nestjs/common';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { capabilityModule } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, SHARED_CORE_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule } from '../core/configured-module.js';
import type { FactoryImports, OptionsFromFactory } from '../core/core-options.js';
import { MountPoint } from '../core/mount-point.js';
import { invokeFactory, providePort } from '../core/port-provider.js';
import {
  MANAGEMENT_GRAPH_OPTIONS,
  type ManagementFactoryOptions,
  type ManagementGraphOptions,
  type ManagementModuleAsyncOptions,
  type ManagementModuleOptions,
  ofCore,
} from '../messaging/module-options.js';
import { MANAGEMENT_CAPABILITIES } from './management-capability.js';
import { MANAGEMENT_OPTIONS, ManagementSettings, resolveManagementSettings } from './management-options.js';
import { UserAuthenticator } from './user-sessions/user-authenticator.js';

const OWN_OPTIONS = { management: group(MANAGEMENT_OPTIONS) } satisfies OptionsOf<ManagementFactoryOptions>;

/** The API for people: sign-in, and the routes of accounts and of the operator. The module is mounted on a shared core. */
@Module({})
export class ManagementModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: ManagementModuleOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, MANAGEMENT_GRAPH_OPTIONS, OWN_OPTIONS);
    return ManagementModule.feature(own.core, own, { useFactory: () => own });
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: ManagementModuleAsyncOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, MANAGEMENT_GRAPH_OPTIONS, FACTORY_OPTIONS);
    const factory = checkFactoryOptions(own, OWN_OPTIONS, MANAGEMENT_GRAPH_OPTIONS);
    return ManagementModule.feature(own.core, { ...own, imports: factory.imports }, factory);
  }

  /**
   * Returns the module on an existing core. By default it reads its options from the core's options.
   * @internal
   */
  static feature(
    core: DynamicModule,
    { users, imports = [] }: ManagementGraphOptions & FactoryImports = {},
    factory: OptionsFromFactory<OptionalFields<ManagementFactoryOptions>> = OF_CORE,
  ): DynamicModule {
    const port = users === undefined ? NO_PORT : providePort('management.users', UserAuthenticator, users);
    return capabilityModule(ManagementModule, MountPoint.of(core), ...MANAGEMENT_CAPABILITIES, {
      imports: [core, ...imports, ...port.imports],
      providers: [
        ...port.providers,
        {
          provide: ManagementSettings,
          useFactory: async (...injected: unknown[]) => {
            const { management } = await invokeFactory(factory.useFactory, injected);
            return resolveManagementSettings(management);
          },
          inject: factory.inject ?? [],
        },
      ],
    });
  }
}

const NO_PORT = { imports: [], providers: [] };

const OF_CORE = ofCore(({ management }) => ({ management }));
