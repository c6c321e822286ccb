import { type DynamicModule, Module } from '@nestjs/common';
import { MessagingModule, type MessagingOptions, TypeormStorage } from 'nestjs-messaging';
import { DashboardModule } from 'nestjs-messaging/dashboard';
import { PrometheusTelemetry } from 'nestjs-messaging/prometheus';
import type { Config } from './config/config.js';
import { msgappTransport } from './config/msgapp-transport.js';
import { serviceSecrets } from './config/secrets.js';
import { smsTransport } from './config/sms-transport.js';
import { DemoAccount } from './demo/demo-account.js';
import { sandboxModules } from './demo/sandbox-modules.js';
import { PhoneLoginController } from './login/phone-login.controller.js';
import { PrefixedIds } from './prefixed-ids.js';
import { WelcomeController } from './welcome.controller.js';

/** Replaces the machine's clock and the usual ids. */
export type SourcesOfTime = Pick<MessagingOptions, 'clock' | 'ids'>;

/** The host application. */
@Module({})
export class AppModule {
  /** @param migrations `check`: the app refuses a database that has no tables of ours, or older ones, and does not change it */
  static with(config: Config, migrations: 'run' | 'check' = 'run', time: SourcesOfTime = {}): DynamicModule {
    const { databaseUrl, homeCountry, role, metricsSecret } = config;
    const { otpPepper, credentialsKey, webhookPepper, hookPepper, managementSecret } = serviceSecrets(config);
    return {
      module: AppModule,
      imports: [
        MessagingModule.forRoot({
          storage: TypeormStorage.forRoot({ url: databaseUrl, migrations }),
          ids: PrefixedIds,
          ...time,
          signatures: ['INFOS', 'ALERTE', 'SERVICE'],
          role,
          sms: { tariff: { base: 1, international: 3, home: homeCountry }, ...smsTransport(config.sms) },
          otp: { pepper: otpPepper, limits: config.otpLimits, validitySeconds: config.otpValiditySeconds },
          msgapp: { transport: msgappTransport(config), tariff: { text: 1, media: 2 }, credentialsKey },
          webhooks: webhookPepper ? { pepper: webhookPepper, allow: config.mediaAllow } : undefined,
          hooks: hookPepper ? { pepper: hookPepper } : undefined,
          campaigns: {},
          telemetry: metricsSecret ? PrometheusTelemetry.forRoot({ route: { secret: metricsSecret } }) : undefined,
          management: managementSecret ? { secret: managementSecret } : undefined,
          media: { allow: config.mediaAllow },
        }),
        ...(managementSecret ? [DashboardModule.forRoot({ path: 'dashboard' })] : []),
        ...sandboxModules(config),
      ],
      controllers: [WelcomeController, PhoneLoginController],
      providers: [DemoAccount],
    };
  }
}
