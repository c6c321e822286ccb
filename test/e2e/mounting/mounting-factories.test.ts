import { describe, expect, test } from '@jest/globals';
import { type DynamicModule, Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountSettings } from '../../../src/accounts/account-options.js';
import type { CoreFactoryOptions, MessagingOptionsFactory } from '../../../src/core/core-options.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type { MsgappFactoryOptions, OtpFactoryOptions } from '../../../src/messaging/module-options.js';
import { MsgappModule } from '../../../src/msgapp/msgapp.module.js';
import { MsgappSettings } from '../../../src/msgapp/msgapp-options.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { OtpSettings } from '../../../src/otp/otp-settings.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { type SmsOptions, SmsSettings } from '../../../src/sms/sms-options.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { startRefusal } from '../../support/mounting/start-refusal.js';
import { PEPPER } from '../../support/otp/otp-app.js';

/** The class in which a host keeps its settings. */
@Injectable()
class HostConfig {
  readonly maxSegments = 3;
}

const TARIFF = { base: 1, international: 3, home: 'SN' };
const core: CoreFactoryOptions = { signatures: ['UN'] };
const sms = ({ maxSegments }: HostConfig): SmsOptions => ({ tariff: TARIFF, maxSegments });
const msgapp: MsgappFactoryOptions = { tariff: { text: 7, media: 8 }, credentialsKey: PEPPER };
const otp: OtpFactoryOptions = { otp: { pepper: PEPPER, validitySeconds: 120 } };

@Injectable()
abstract class Factory {
  constructor(protected readonly config: HostConfig) {}
}

@Injectable()
class All
  extends Factory
  implements MessagingOptionsFactory<CoreFactoryOptions & OtpFactoryOptions & { sms: SmsOptions }>
{
  async createMessagingOptions() {
    return { ...core, ...otp, sms: sms(this.config), msgapp };
  }
}

@Injectable()
class Sms extends Factory implements MessagingOptionsFactory<CoreFactoryOptions & SmsOptions> {
  createMessagingOptions() {
    return { ...core, ...sms(this.config) };
  }
}

@Injectable()
class Msgapp extends Factory {
  createMessagingOptions() {
    return { ...core, ...msgapp };
  }
}

@Injectable()
class OtpAndSms extends Factory {
  createMessagingOptions() {
    return { ...core, ...otp, sms: sms(this.config) };
  }
}

@Injectable()
class Core extends Factory {
  createMessagingOptions() {
    return core;
  }
}

@Injectable()
class OwnSms extends Factory {
  createMessagingOptions() {
    return sms(this.config);
  }
}

@Injectable()
class OwnOtp extends Factory {
  createMessagingOptions() {
    return otp;
  }
}

@Injectable()
class OwnMsgapp extends Factory {
  createMessagingOptions() {
    return msgapp;
  }
}

const FACTORIES = [All, Sms, Msgapp, OtpAndSms, Core, OwnSms, OwnOtp, OwnMsgapp];

@Module({ providers: [HostConfig, ...FACTORIES], exports: [HostConfig, ...FACTORIES] })
class SettingsModule {}

const imports = [SettingsModule];
const storage = MemoryStorage;

/** How a factory is named: as a class of the host, or as a provider of the host. */
type Naming = <T>(factory: Type<T>) => { useClass: Type<T> } | { useExisting: Type<T> };

const NAMINGS: [string, Naming][] = [
  ['useClass', (factory) => ({ useClass: factory })],
  ['useExisting', (factory) => ({ useExisting: factory })],
];

async function settingsOf<T>(modules: DynamicModule[], token: abstract new () => T): Promise<T> {
  class AppModule {}
  const root = { module: AppModule, imports: modules };
  const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  const settings = app.get(token, { strict: false });
  await app.close();
  return settings;
}

describe.each(NAMINGS)('%s provides the options of', (_, by) => {
  test('the whole service', async () => {
    const modules = () => [MessagingModule.forRootAsync({ imports, storage, otp: true, msgapp: {}, ...by(All) })];
    expect(await settingsOf(modules(), SmsSettings)).toMatchObject({ maxSegments: 3 });
    expect(await settingsOf(modules(), AccountSettings)).toMatchObject({ signatures: ['UN'] });
    expect(await settingsOf(modules(), OtpSettings)).toMatchObject({ validityMs: 120_000 });
    expect(await settingsOf(modules(), MsgappSettings)).toMatchObject({ tariff: { text: 7 } });
  });

  test('one capability', async () => {
    const smsOnly = SmsModule.forRootAsync({ imports, storage, ...by(Sms) });
    expect(await settingsOf([smsOnly], SmsSettings)).toMatchObject({ maxSegments: 3 });
    const otpAndSms = OtpModule.forRootAsync({ imports, storage, sms: {}, ...by(OtpAndSms) });
    expect(await settingsOf([otpAndSms], OtpSettings)).toMatchObject({ validityMs: 120_000 });
    const msgappOnly = MsgappModule.forRootAsync({ imports, storage, ...by(Msgapp) });
    expect(await settingsOf([msgappOnly], MsgappSettings)).toMatchObject({ tariff: { text: 7 } });
  });

  test('a core and the modules that are mounted on it', async () => {
    const shared = MessagingCore.forRootAsync({ imports, storage, ...by(Core) });
    const modules = [
      SmsModule.forRootAsync({ core: shared, imports, ...by(OwnSms) }),
      OtpModule.forRootAsync({ core: shared, imports, ...by(OwnOtp) }),
      MsgappModule.forRootAsync({ core: shared, imports, ...by(OwnMsgapp) }),
    ];
    expect(await settingsOf(modules, SmsSettings)).toMatchObject({ maxSegments: 3 });
    expect(await settingsOf(modules, OtpSettings)).toMatchObject({ validityMs: 120_000 });
    expect(await settingsOf(modules, MsgappSettings)).toMatchObject({ tariff: { text: 7 } });
    expect(await settingsOf(modules, AccountSettings)).toMatchObject({ signatures: ['UN'] });
  });
});

class Misspelled {
  createMessagingOptions() {
    return { signature: ['UN'] };
  }
}

const forRootAsync = (options: never) => MessagingModule.forRootAsync(options);

test.each<[sentence: string, options: object]>([
  ['Option useClass must be a class with a method createMessagingOptions.', { useClass: HostConfig }],
  ['Option useClass must be a class with a method createMessagingOptions.', { useClass: 'Settings' }],
  ['Option useExisting must name a provider with a method createMessagingOptions.', { useExisting: HostConfig }],
  ['Options useFactory and useClass exclude each other: give one of them.', { useFactory: () => core, useClass: All }],
  ['Options useClass and useExisting exclude each other: give one of them.', { useClass: All, useExisting: All }],
  ['Option signature is not known', { useClass: Misspelled }],
])('refuses: %s', async (sentence, options) => {
  expect(await startRefusal(forRootAsync, { imports, storage, ...options })).toEqual(expect.stringContaining(sentence));
});
