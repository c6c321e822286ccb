import { type DynamicModule, Module } from '@nestjs/common';
import { type Capability, capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { BasicCallers } from './basic-callers.js';
import { type CompatOptions, resolveCompatOptions } from './compat-options.js';
import { twilioOpenapi } from './twilio/twilio.openapi.js';
import { TwilioMessages } from './twilio/twilio-messages.js';
import { TwilioVerify } from './twilio/twilio-verify.js';

const TWILIO: Capability = {
  controllers: [twilioOpenapi],
  providers: [BasicCallers, TwilioMessages, TwilioVerify],
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
