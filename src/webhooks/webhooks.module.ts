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
  ofCore,
  type WebhookFactoryOptions,
  type WebhooksModuleAsyncOptions,
  type WebhooksModuleOptions,
} from '../messaging/module-options.js';
import { resolveWebhookSettings, WEBHOOK_OPTIONS, WebhookSettings } from './webhook-options.js';
import { WEBHOOKS_CAPABILITY } from './webhooks-capability.js';

const OWN_OPTIONS = { webhooks: group(WEBHOOK_OPTIONS) } satisfies OptionsOf<WebhookFactoryOptions>;

/**
 * The outside access to the log of events: the feed `GET /events`, its stream, and webhooks. The module is mounted on a shared
 * core.
 */
@Module({})
export class WebhooksModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: WebhooksModuleOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, OWN_OPTIONS);
    return WebhooksModule.feature(own.core, { useFactory: () => own });
  }

  /** Does the same as `forRoot`, with options from a factory. */
  static forRootAsync(options: WebhooksModuleAsyncOptions): DynamicModule {
    const own = checkOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
    return WebhooksModule.feature(own.core, checkFactoryOptions(own, OWN_OPTIONS, {}));
  }

  /**
   * Returns the module on an existing core. Default values come from the core.
   * @internal
   */
  static feature(
    core: DynamicModule,
    factory: OptionsFromFactory<OptionalFields<WebhookFactoryOptions>> = OF_CORE,
  ): DynamicModule {
    return capabilityModule(WebhooksModule, MountPoint.of(core), WEBHOOKS_CAPABILITY, {
      imports: [core, ...(factory.imports ?? [])],
      providers: [
        {
          provide: WebhookSettings,
          useFactory: async (...injected: unknown[]) => {
            const { webhooks } = await invokeFactory(factory.useFactory, injected);
            return resolveWebhookSettings(webhooks);
          },
          inject: factory.inject ?? [],
        },
      ],
    });
  }
}

const OF_CORE = ofCore(({ webhooks }) => ({ webhooks }));
