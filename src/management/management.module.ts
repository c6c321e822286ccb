import { type DynamicModule, Module } from '@nestjs/common';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import type { FactoryImports, ValuesFactory } from '../core/core-options.js';
import { FACTORY_OPTIONS, knownOptions, knownValues, SHARED_CORE_OPTIONS } from '../core/known-options.js';
import { MountPoint } from '../core/mount-point.js';
import { invokeFactory, providePort } from '../core/port-provider.js';
import {
  MANAGEMENT_GRAPH_OPTIONS,
  type ManagementGraph,
  type ManagementModuleAsyncOptions,
  type ManagementModuleOptions,
  type ManagementValues,
  ofCore,
} from '../messaging/module-options.js';
import { MANAGEMENT_CAPABILITIES } from './management-capability.js';
import { MANAGEMENT_OPTIONS, ManagementSettings, resolveManagementSettings } from './management-options.js';
import { UserAuthenticator } from './session/user-authenticator.js';

const VALUES = { management: group(MANAGEMENT_OPTIONS) } satisfies OptionsOf<ManagementValues>;

/** What people use: sign-in, and the API of accounts and of the operator. It is mounted on a shared core. */
@Module({})
export class ManagementModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: ManagementModuleOptions): DynamicModule {
    const own = knownOptions(options, SHARED_CORE_OPTIONS, MANAGEMENT_GRAPH_OPTIONS, VALUES);
    return ManagementModule.feature(own.core, own, { useFactory: () => own });
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: ManagementModuleAsyncOptions): DynamicModule {
    const own = knownOptions(options, SHARED_CORE_OPTIONS, MANAGEMENT_GRAPH_OPTIONS, FACTORY_OPTIONS);
    const values = knownValues(own, VALUES, MANAGEMENT_GRAPH_OPTIONS);
    return ManagementModule.feature(own.core, { ...own, imports: values.imports }, values);
  }

  /**
   * The module on an existing core; the default values are the core's own.
   * @internal
   */
  static feature(
    core: DynamicModule,
    { users, imports = [] }: ManagementGraph & FactoryImports = {},
    values: ValuesFactory<OptionalFields<ManagementValues>> = OF_CORE,
  ): DynamicModule {
    const port = users === undefined ? NO_PORT : providePort('management.users', UserAuthenticator, users);
    return capabilityModule(ManagementModule, MountPoint.of(core), ...MANAGEMENT_CAPABILITIES, {
      imports: [core, ...imports, ...port.imports],
      providers: [
        ...port.providers,
        {
          provide: ManagementSettings,
          useFactory: async (...injected: unknown[]) => {
            const { management } = await invokeFactory(values.useFactory, injected);
            return resolveManagementSettings(management);
          },
          inject: values.inject ?? [],
        },
      ],
    });
  }
}

const NO_PORT = { imports: [], providers: [] };

const OF_CORE = ofCore(({ management }) => ({ management }));
