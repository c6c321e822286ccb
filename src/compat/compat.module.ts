import { type DynamicModule, Module } from '@nestjs/common';
import { DAY_MS } from '../common/time.js';
import { type Capability, capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { providePurge } from '../outbox/purger.js';
import { BasicCallers } from './basic-callers.js';
import { type CompatOptions, resolveCompatOptions } from './compat-options.js';
import { StatusCallbackStore } from './twilio/status-callback-store.js';
import { StatusCallbacks } from './twilio/status-callbacks.js';
import { twilioOpenapi } from './twilio/twilio.openapi.js';
import { TwilioMessages } from './twilio/twilio-messages.js';
import { TwilioVerify } from './twilio/twilio-verify.js';

const TWILIO: Capability = {
  controllers: [twilioOpenapi],
  stores: [StatusCallbackStore],
  providers: [
    BasicCallers,
    TwilioMessages,
    TwilioVerify,
    StatusCallbacks,
    // A send may be scheduled 180 days ahead.
    providePurge(StatusCallbackStore, (store) => ({
      what: 'status callbacks',
      keepMs: 190 * DAY_MS,
      purge: (before, limit) => store.purge(before, limit),
    })),
  ],
};

/**
 * Mounts doors in the shape of other services (docs/compat.md), for software that can only speak to them. Each must be switched
 * on. The doors use the accounts, keys, prices and limits of this service. They need `SmsModule`, which `MessagingModule` brings;
 * Twilio's Verify needs `otp`, too.
 *
 * @example
 * ```ts
 * @Module({ imports: [MessagingModule.forRoot(options), CompatModule.forRoot({ twilio: true })] })
 * ```
 */
@Module({})
export class CompatModule extends ConfiguredModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options: CompatOptions): DynamicModule {
    const { twilio, path } = resolveCompatOptions(options);
    return capabilityModule(CompatModule, { path, controllers: true }, ...(twilio ? [TWILIO] : []));
  }
}
