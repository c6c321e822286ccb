import { type DynamicModule, Module } from '@nestjs/common';
import { MessagingModule, SandboxModule, TypeormStorage } from 'nestjs-messaging';
import type { Config } from './config.js';
import { DemoAccount } from './demo-account.js';
import { PrefixedIds } from './prefixed-ids.js';
import { WelcomeController } from './welcome.controller.js';

/** The host application. */
@Module({})
export class AppModule {
  static with({ databaseUrl, homeCountry, dispatch }: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        MessagingModule.forRoot({
          storage: TypeormStorage.forRoot({ url: databaseUrl }),
          ids: PrefixedIds,
          signatures: ['INFOS', 'ALERTE', 'SERVICE'],
          dispatch: { enabled: dispatch },
          sms: { tariff: { base: 1, international: 3, home: homeCountry } },
        }),
        SandboxModule.forRoot(),
      ],
      controllers: [WelcomeController],
      providers: [DemoAccount],
    };
  }
}
