import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { MsgappTransport } from '../../../src/msgapp/msgapp-transport.js';
import { until } from '../../support/common/until.js';
import { LoopbackEventSource } from '../../support/docs/loopback-event-source.js';
import { snippets as blocks } from '../../support/docs/readme.js';
import { call } from '../../support/http/http-client.js';
import { CollectRunner } from '../../support/jest/collect-runner.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ROOT, type SampleApp, sampleFolder } from '../../support/sample-app/sample-app.js';
import { startHere } from '../../support/sample-app/sample-operator.js';

const SNIPPETS = join(ROOT, 'test/.readme');

/** The environment variables that snippets read. */
const SETTINGS = {
  HOME_COUNTRY: 'BF',
  OTP_PEPPER: PEPPER,
  DATABASE_URL: 'sqlite::memory:',
  METRICS_SECRET: 'Zb2mXq8vT4nK7pLw9sRd3fGh6jYc1uAe',
  TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: 'token',
  WHATSAPP_APP_SECRET: 'a-secret-that-meta-shows',
  WHATSAPP_VERIFY_TOKEN: 'a-token-of-your-own',
};

// package.test.ts compiles all of them, as hosts do.
describe('docs, TypeScript', () => {
  const snippets = blocks('ts');

  beforeAll(() => {
    mkdirSync(SNIPPETS, { recursive: true });
    jest.replaceProperty(process, 'env', { ...process.env, ...SETTINGS });
    for (const [name, text] of snippets) writeFileSync(join(SNIPPETS, `${name}.ts`), text);
  });

  afterAll(() => {
    jest.restoreAllMocks();
    rmSync(SNIPPETS, { recursive: true, force: true });
  });

  const exported = async (name: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(SNIPPETS, `${name}.ts`)).href);

  test('exist, each with a name of its own', () => {
    const names = snippets.map(([name]) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => name.includes(' '))).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('log-in is the same controller as in the sample app', () => {
    const code = (text: string) => text.replace(/^\/\*\*.*\*\/\n/gm, '').trim();
    const sample = readFileSync(join(ROOT, 'sample-app/src/login/phone-login.controller.ts'), 'utf8');
    expect(code(sample)).toBe(code(new Map(snippets).get('login') ?? ''));
  });

  // A contract suite registers its tests when it is loaded. It is loaded below, where tests may be registered.
  test.each(snippets.map(([name]) => name).filter((name) => !/\bcontract$/.test(name)))(
    '%s can be loaded',
    async (name) => {
      expect(Object.keys(await exported(name)).length).toBeGreaterThan(0);
    },
  );

  test.each([
    ['app.module', 'AppModule'],
    ['transport', 'PrinterApp'],
    ['core', 'CoreApp'],
  ])('%s boots, and a new account sends', async (name, module) => {
    const folder = sampleFolder();
    const before = process.cwd();
    process.chdir(folder); // the default database is a file in the working directory
    try {
      const { [module]: root } = await exported(name);
      const { AccountService, LedgerService, SmsService } = await import('nestjs-messaging');
      const app = await NestFactory.createApplicationContext(root as Type | DynamicModule, { logger: false });
      const { Onboarding } = await exported('operator');
      const onboarding = new (
        Onboarding as new (
          ...args: unknown[]
        ) => { welcome(name: string): Promise<{ id: string }> }
      )(app.get(AccountService), app.get(LedgerService), app.get((await import('nestjs-messaging')).SignatureService));
      const { id } = await onboarding.welcome('Awa');
      const sms = { signature: 'MY SHOP', content: 'x', number: ['22670000000'] };
      expect(await app.get(SmsService).send(id, sms)).toMatchObject({ sms_units: 1 });
      expect(await app.get(LedgerService).balance(id)).toBe(999);
      await app.close();
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  });

  test('transaction confirms an order and sends, both or neither', async () => {
    const { AccountService, LedgerService, MessagingModule, SmsService, TypeormStorage } = await import(
      'nestjs-messaging'
    );
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    await dataSource.query('CREATE TABLE shop_order (phone text PRIMARY KEY, state text)');
    await dataSource.query("INSERT INTO shop_order VALUES ('22670000000', 'new')");
    const module = MessagingModule.forRoot({ ...OPTIONS, storage: TypeormStorage.forRoot({ dataSource }) });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const { id } = await app.get(AccountService).createAccount({ name: 'Awa' });
    const { confirmOrder } = await exported('transaction');
    const confirm = async () =>
      Reflect.apply(Object(confirmOrder), undefined, [dataSource, app.get(SmsService), id, '22670000000']);
    const state = async () => (await dataSource.query('SELECT state FROM shop_order'))[0].state;

    await expect(confirm()).rejects.toMatchObject({ code: 'error.insufficient_balance' });
    expect(await state()).toBe('new');
    await app.get(LedgerService).topUp(id, 1);
    expect(await confirm()).toMatchObject({ sms_units: 1 });
    expect(await state()).toBe('confirmed');
    await app.close();
    await dataSource.destroy();
  });

  test('orders.test needs no key, and sends', async () => {
    jest.spyOn(console, 'log').mockImplementation(() => undefined); // what the controller prints
    const { openOrders } = await exported('orders.test');
    const app: INestApplication = await Reflect.apply(Object(openOrders), undefined, []);
    await app.listen(0, '127.0.0.1');
    const sent = await call(`${await app.getUrl()}/orders/ready`, { method: 'POST' });
    expect(sent).toMatchObject({ status: 201, body: { userID: 'acme', sms_units: 1 } });
    await app.close();
  });

  test.each([
    'linking > a linked session opens again with its credentials, and shows no code',
    'linking > a closed connection reports nothing more, not even its end',
    'sending > a text arrives once and unchanged: Arabic',
    'sending > a number that the app refuses is refused (if the double can refuse)',
  ])('app-transport passes the contract suite: %s', async (name) => {
    const { ChatTransport } = await exported('app-transport');
    const { describeMsgappTransport } = await import('nestjs-messaging/testing');
    const open = async () => {
      const inbox: { text: string }[] = [];
      const codes = new Map<string, () => Promise<void>>();
      const client = {
        pair: (scanned: (number: string, token: string) => Promise<void>) => {
          codes.set(`code-${codes.size}`, () => scanned('22675000000', 'token'));
          return `code-${codes.size - 1}`;
        },
        post: async (_token: string, _id: string, to: string, text: string) => {
          if (to === '22670000001') return 'blocked';
          inbox.push({ text });
          return 'ok';
        },
        isMember: async () => true,
      };
      return {
        transport: Reflect.construct(Object(ChatTransport), [client]) as MsgappTransport,
        phone: '22675000000',
        scan: async (qr: string) => codes.get(qr)?.(),
        number: (outcome: string) => ({ taken: '22670000000', refused: '22670000001' })[outcome],
        received: (to: string) => (to === '22670000000' ? inbox : []),
        close: async () => undefined,
      };
    };
    const runner = new CollectRunner();
    describeMsgappTransport('it', open, runner);
    expect([...(await runner.run(`it > ${name}`))]).toEqual([[`it > ${name}`, undefined]]);
  });

  test('async takes its settings from the host, and its carrier too', async () => {
    const { AsyncApp } = await exported('async');
    const { OtpService, SmsService, SmsTransport } = await import('nestjs-messaging');
    const app = await NestFactory.createApplicationContext(AsyncApp as Type, { logger: false });
    expect(app.get(SmsTransport, { strict: false }).name).toBe('twilio');
    expect(app.get(OtpService, { strict: false })).toBeDefined();
    const quote = await app.get(SmsService).quote({ content: 'x', number: ['22670000000', '33612345678'] });
    expect(quote.units_per_recipient.map(({ units }) => units)).toEqual([1, 3]);
    await app.close();
  });
});

describe('docs, on the sample app', () => {
  let app: SampleApp;
  const folder = sampleFolder();

  beforeAll(async () => {
    app = await startHere(folder);
  });

  afterAll(async () => {
    await app.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  test.each(blocks('js'))('%s follows a code until it is scanned', async (_, text) => {
    const { body } = await call(`${app.url}/api/v1/msgapp/web/connect`, {
      method: 'POST',
      headers: { 'x-api-key': app.key },
    });
    const { qr_url, sessionID } = Object(body);
    const image = { src: '' };
    let source: LoopbackEventSource | undefined;
    class Opened extends LoopbackEventSource {
      constructor(url: string) {
        super(url);
        source = this;
      }
    }
    const shown = new Promise((show) => {
      Reflect.apply(new Function('EventSource', 'qr_url', 'image', 'show', text), undefined, [
        Opened,
        qr_url,
        image,
        show,
      ]);
    });
    await until(() => image.src.startsWith('data:image/png;base64,'));
    const { body: codes } = await call(`${app.url}/sandbox/codes`);
    const { qr } = Object(codes).find((code: { sessionID: string }) => code.sessionID === sessionID);
    await call(`${app.url}/sandbox/phones/22670000199/scan`, { method: 'POST', body: { qr } });
    expect(await shown).toBe('22670000199 est connecté');
    expect(source?.closed).toBe(true);
  });

  test('the answer to a send has the documented fields', () => {
    const documented = new Map(blocks('json')).get('sent') ?? '{}';
    expect(Object.keys(JSON.parse(documented))).toEqual([
      'userID',
      'smsID',
      'signature',
      'number',
      'sms_units',
      'date_sent',
    ]);
  });
});
