import { type DynamicModule, Module } from '@nestjs/common';
import type { MessagingAsyncOptions, MessagingOptions, SmsGraph } from './core/core-options.js';
import { MessagingCore } from './core/messaging-core.module.js';
import { OtpModule } from './otp/otp.module.js';
import { SmsModule } from './sms/sms.module.js';

/** The whole service: what is named in the options is mounted. */
@Module({})
export class MessagingModule {
  /** @throws MessagingOptionsError when the application starts, with a sentence that names the wrong option */
  static forRoot(options: MessagingOptions): DynamicModule {
    return mount(MessagingCore.forRoot(options), options.sms, options.otp !== undefined);
  }

  /** As `forRoot`; what shapes the module graph is given at once, the values come from the factory. */
  static forRootAsync(options: MessagingAsyncOptions): DynamicModule {
    return mount(MessagingCore.forRootAsync(options), options.sms, options.otp ?? false);
  }
}

function mount(core: DynamicModule, sms: SmsGraph | undefined, otp: boolean): DynamicModule {
  return {
    module: MessagingModule,
    imports: [SmsModule.feature(core, sms), ...(otp ? [OtpModule.feature(core)] : [])],
  };
}
