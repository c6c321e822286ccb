import { afterEach, describe, expect, test } from '@jest/globals';
import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { LazyModuleLoader, NestFactory, RouterModule } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { DashboardModule } from '../../../src/dashboard/index.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { until } from '../../support/common/until.js';
import { describeOnBothAdapters, startApp } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const QUIET = { logger: false, abortOnError: false } as const;
const { sms: SMS, ...COMMON } = OPTIONS;
const feature = (...imports: readonly DynamicModule[]): DynamicModule => {
  @Module({})
  class FeatureModule {}
  return { module: FeatureModule, imports: [...imports] };
};

async function context(module: DynamicModule): Promise<INestApplicationContext> {
  const app = await NestFactory.createApplicationContext(module, QUIET);
  closing.push(() => app.close());
  return app;
}

describe('a module that LazyModuleLoader loads', () => {
  test.each<[string, () => DynamicModule, string]>([
    ['MessagingModule', () => MessagingModule.forRoot(OPTIONS), 'MessagingCore'],
    ['a module that imports MessagingModule', () => feature(MessagingModule.forRoot(OPTIONS)), 'MessagingCore'],
    ['one that imports such a module', () => feature(feature(MessagingModule.forRoot(OPTIONS))), 'MessagingCore'],
    ['SmsModule', () => SmsModule.forRoot({ ...COMMON, ...SMS }), 'SmsModule'],
    [
      'MessagingModule by a factory',
      () =>
        MessagingModule.forRootAsync({
          storage: COMMON.storage,
          useFactory: () => ({ signatures: ['INFOS', 'ALERTE', 'SERVICE'], sms: SMS }),
        }),
      'MessagingCore',
    ],
  ])('%s is refused with a sentence', async (_, make) => {
    const app = await context(feature());
    const loading = app.get(LazyModuleLoader).load(() => make());
    await expect(loading).rejects.toThrow(MessagingOptionsError);
    await expect(app.get(LazyModuleLoader).load(() => make())).rejects.toThrow(/is loaded by LazyModuleLoader/);
  });

  test.each<[string, (core: DynamicModule) => DynamicModule]>([
    ['OtpModule', (core) => OtpModule.forRoot({ core, otp: { pepper: PEPPER } })],
    ['SandboxModule', () => SandboxModule.forRoot()],
    ['DashboardModule', () => DashboardModule.forRoot()],
  ])('%s beside a running core is refused, and the core goes on', async (name, make) => {
    const core = MessagingCore.forRoot(COMMON);
    const app = await context(feature(SmsModule.forRoot({ core, ...SMS })));
    const loading = app.get(LazyModuleLoader).load(() => make(core));
    await expect(loading).rejects.toThrow(`${name} is loaded by LazyModuleLoader`);
    await sends(app);
  });

  test('a lazy module of the host uses the services of a running core', async () => {
    const app = await context(feature(MessagingModule.forRoot(OPTIONS)));
    @Module({ providers: [{ provide: 'own', inject: [SmsService], useFactory: (sms: SmsService) => sms }] })
    class Lazy {}
    const lazy = await app.get(LazyModuleLoader).load(() => Lazy);
    expect(lazy.get('own')).toBe(app.get(SmsService, { strict: false }));
    await sends(app);
  });
});

async function sends(app: INestApplicationContext): Promise<void> {
  const get = <T>(token: abstract new (...args: never[]) => T): T => app.get(token, { strict: false });
  const { id } = await get(AccountService).createAccount({ name: 'A' });
  await get(LedgerService).topUp(id, 1);
  const { smsID } = await get(SmsService).send(id, { signature: 'INFOS', content: 'x', number: ['22670000000'] });
  await until(async () => (await get(SmsService).get(id, smsID)).recipients[0]?.status === 'delivered');
}

describe('an application that starts with our modules delivers', () => {
  test.each<[string, () => Promise<INestApplicationContext>]>([
    ['createApplicationContext', () => context(feature(MessagingModule.forRoot(OPTIONS)))],
    ['createApplicationContext of MessagingModule itself', () => context(MessagingModule.forRoot(OPTIONS))],
    [
      'create and init, without listen',
      async () => {
        const app = await NestFactory.create(feature(feature(MessagingModule.forRoot(OPTIONS))), QUIET);
        closing.push(() => app.close());
        return app.init();
      },
    ],
    [
      'the same module imported in two places',
      () => {
        const messaging = MessagingModule.forRoot(OPTIONS);
        return context(feature(feature(messaging), feature(messaging)));
      },
    ],
  ])('%s', async (_, make) => {
    await sends(await make());
  });
});

describeOnBothAdapters('RouterModule', (adapter) => {
  test.each(['inner', '/inner/', 'a/:tenant'])(
    'refuses a path for MessagingModule and names the option to write instead: %s',
    async (path) => {
      const messaging = MessagingModule.forRoot(OPTIONS);
      const routes = RouterModule.register([{ path, module: MessagingModule }]);
      await expect(startApp(feature(messaging, routes), adapter)).rejects.toThrow(
        /RouterModule gives MessagingModule the path .*Write it in the option path instead/,
      );
    },
  );

  test('refuses a path for MessagingModule as a child too', async () => {
    @Module({})
    class Shop {}
    const routes = RouterModule.register([{ path: 'shop', module: Shop, children: [MessagingModule] }]);
    const started = startApp(feature({ module: Shop }, MessagingModule.forRoot(OPTIONS), routes), adapter);
    await expect(started).rejects.toThrow('RouterModule gives MessagingModule the path "/shop"');
  });

  test('serves a capability below the path that its module gets', async () => {
    const core = MessagingCore.forRoot(COMMON);
    const routes = RouterModule.register([{ path: 'inner', module: SmsModule }]);
    const running = await startApp(feature(SmsModule.forRoot({ core, ...SMS }), routes), adapter);
    closing.push(() => running.close());
    expect((await call(`${running.url}/inner/api/v1/sms`)).status).toBe(401);
    expect((await call(`${running.url}/api/v1/balance`)).status).toBe(401);
  });
});
