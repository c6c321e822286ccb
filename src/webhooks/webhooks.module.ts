import { type DynamicModule, Module } from '@nestjs/common';
import type { OptionalFields } from '../common/optional-fields.js';
import { group, type OptionsOf } from '../common/options.js';
import { capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import type { ValuesFactory } from '../core/core-options.js';
import { FACTORY_OPTIONS, knownOptions, knownValues, SHARED_CORE_OPTIONS } from '../core/known-options.js';
import { MountPoint } from '../core/mount-point.js';
import { invokeFactory } from '../core/port-provider.js';
import {
  ofCore,
  type WebhooksModuleAsyncOptions,
  type WebhooksModuleOptions,
  type WebhookValues,
} from '../messaging/module-options.js';
import { resolveWebhookSettings, WEBHOOK_OPTIONS, WebhookSettings } from './webhook-options.js';
import { WEBHOOKS_CAPABILITY } from './webhooks-capability.js';

const VALUES = { webhooks: group(WEBHOOK_OPTIONS) } satisfies OptionsOf<WebhookValues>;

/** The log of events for those outside: the feed `GET /events`, its stream, and webhooks. It is mounted on a shared core. */
@Module({})
export class WebhooksModule extends ConfiguredModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: WebhooksModuleOptions): DynamicModule {
    const own = knownOptions(options, SHARED_CORE_OPTIONS, VALUES);
    return WebhooksModule.feature(own.core, { useFactory: () => own });
  }

  /** As `forRoot`, with the values from a factory. */
  static forRootAsync(options: WebhooksModuleAsyncOptions): DynamicModule {
    const own = knownOptions(options, SHARED_CORE_OPTIONS, FACTORY_OPTIONS);
    return WebhooksModule.feature(own.core, knownValues(own, VALUES, {}));
  }

  /**
   * The module on an existing core; the default values are the core's own.
   * @internal
   */
  static feature(core: DynamicModule, values: ValuesFactory<OptionalFields<WebhookValues>> = OF_CORE): DynamicModule {
    return capabilityModule(WebhooksModule, MountPoint.of(core), WEBHOOKS_CAPABILITY, {
      imports: [core, ...(values.imports ?? [])],
      providers: [
        {
          provide: WebhookSettings,
          useFactory: async (...injected: unknown[]) => {
            const { webhooks } = await invokeFactory(values.useFactory, injected);
            return resolveWebhookSettings(webhooks);
          },
          inject: values.inject ?? [],
        },
      ],
    });
  }
}

const OF_CORE = ofCore(({ webhooks }) => ({ webhooks }));
