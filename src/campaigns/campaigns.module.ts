import { type DynamicModule, Module } from '@nestjs/common';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { capabilityModule } from '../core/capability.js';
import { checkFactoryOptions, checkOptions, FACTORY_OPTIONS, SHARED_CORE_OPTIONS } from '../core/check-options.js';
import { ConfiguredModule } from '../core/configured-module.js';
import type { OptionsFromFactory } from '../core/core-options.js';
import { MountPoint } from '../core/mount-point.js';
import { invokeFactory } from '../core/port-provider.js';
import {
  type CampaignFactoryOptions,
  type CampaignsModuleAsyncOptions,
  type CampaignsModuleOptions,
  ofCore,
} from '../messaging/module-options.js';
import { CAMPAIGN_OPTIONS, CampaignSettings, resolveCampaignSettings } from './campaign-options.js';
import { CAMPAIGNS_CAPABILITY } from './campaigns-capability.js';

const OWN_OPTIONS = { campaigns: group(CAMPAIGN_OPTIONS) } satisfies OptionsOf<CampaignFactoryOptions>;

/** Campaigns: a text for up to a million recipients. The module is mounted on a shared core, beside SMS. */
@Module({})
export class CampaignsModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: CampaignsModuleOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, OWN_OPTIONS);
    return CampaignsModule.feature(own.core, { useFactory: () => own });
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: CampaignsModuleAsyncOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
    return CampaignsModule.feature(own.core, checkFactoryOptions(own, OWN_OPTIONS, {}));
  }

  /**
   * Returns the module on an existing core. Default values come from the core.
   * @internal
   */
  static feature(
    core: DynamicModule,
    factory: OptionsFromFactory<OptionalFields<CampaignFactoryOptions>> = OF_CORE,
  ): DynamicModule {
    return capabilityModule(CampaignsModule, MountPoint.of(core), CAMPAIGNS_CAPABILITY, {
      imports: [core, ...(factory.imports ?? [])],
      providers: [
        {
          provide: CampaignSettings,
          useFactory: async (...injected: unknown[]) => {
            const { campaigns } = await invokeFactory(factory.useFactory, injected);
            return resolveCampaignSettings(campaigns);
          },
          inject: factory.inject ?? [],
        },
      ],
    });
  }
}

const OF_CORE = ofCore(({ campaigns }) => ({ campaigns }));
