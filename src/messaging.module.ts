import { type DynamicModule, Module } from '@nestjs/common';
import type { MessagingAsyncOptions, MessagingOptions, MsgappGraph, SmsGraph } from './core/core-options.js';
import { MessagingCore } from './core/messaging-core.module.js';
import { knownOptions, knownValues, OPTION_NAMES } from './core/option-names.js';
import { MsgappModule } from './msgapp/msgapp.module.js';
import { OtpModule } from './otp/otp.module.js';
import { SmsModule } from './sms/sms.module.js';

/** The whole service: what is named in the options is mounted. */
@Module({})
export class MessagingModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: MessagingOptions): DynamicModule {
    const { sms, otp, msgapp = [] } = knownOptions(options, OPTION_NAMES.messaging);
    const core = MessagingCore.build(options, { useFactory: () => options });
    return mount(core, { sms, otp: otp !== undefined, msgapp: [msgapp].flat() });
  }

  /** As `forRoot`; what shapes the module graph is given at once, the values come from the factory. */
  static forRootAsync(options: MessagingAsyncOptions): DynamicModule {
    const { useFactory, sms, otp = false, msgapp = [] } = knownOptions(options, OPTION_NAMES.messagingAsync);
    const values = { ...options, useFactory: knownValues(useFactory, OPTION_NAMES.messagingValues) };
    return mount(MessagingCore.build(options, values), { sms, otp, msgapp: [msgapp].flat() });
  }
}

interface Capabilities {
  readonly sms: SmsGraph | undefined;
  readonly otp: boolean;
  readonly msgapp: readonly MsgappGraph[];
}

function mount(core: DynamicModule, { sms, otp, msgapp }: Capabilities): DynamicModule {
  return {
    module: MessagingModule,
    imports: [
      // In the order in which a router tries the routes: codes come in crowds, and their two paths are soon passed over.
      ...(otp ? [OtpModule.feature(core)] : []),
      SmsModule.feature(core, sms),
      ...MsgappModule.features(core, msgapp),
    ],
  };
}
