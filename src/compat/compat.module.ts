import { type DynamicModule, Module } from '@nestjs/common';
import { DAY_MS } from '../common/time.js';
import { type Capability, capabilityModule } from '../core/capability.js';
import { ConfiguredModule } from '../core/configured-module.js';
import { providePurge } from '../outbox/purger.js';
import { type CompatOptions, resolveCompatOptions } from './compat-options.js';
import { DoorCallers } from './door-callers.js';
import { kannelOpenapi } from './kannel/kannel.openapi.js';
import { KannelSends } from './kannel/kannel-sends.js';
import { StatusCallbackStore } from './status-callbacks/status-callback-store.js';
import { StatusCallbacks } from './status-callbacks/status-callbacks.js';
import { twilioOpenapi } from './twilio/twilio.openapi.js';
import { TwilioMessages } from './twilio/twilio-messages.js';
import { TwilioVerify } from './twilio/twilio-verify.js';

/** What the doors share. */
const DOORS: Capability = {
  stores: [StatusCallbackStore],
  providers: [
    DoorCallers,
    StatusCallbacks,
    // A send may be scheduled 180 days ahead.
    providePurge(StatusCallbackStore, (store) => ({
      what: 'status callbacks',
      keepMs: 190 * DAY_MS,
      purge: (before, limit) => store.purge(before, limit),
    })),
  ],
};

const TWILIO: Capability = { controllers: [twilioOpenapi], providers: [TwilioMessages, TwilioVerify] };

const KANNEL: Capability = { controllers: [kannelOpenapi], providers: [KannelSends] };

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
    const { twilio, kannel, path } = resolveCompatOptions(options);
    const doors = [...(twilio ? [TWILIO] : []), ...(kannel ? [KANNEL] : [])];
    return capabilityModule(CompatModule, { path, controllers: true }, ...(doors.length > 0 ? [DOORS, ...doors] : []));
  }
}
