import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type LoggerService, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { Clock } from '../../../src/common/clock.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type { OtpModuleOptions } from '../../../src/messaging/module-options.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { OtpModule } from '../../../src/otp/otp.module.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import { OtpService } from '../../../src/otp/otp-service.js';
import { Channel, Channels } from '../../../src/outbox/channel.js';
import { DEFAULT_TIMING } from '../../../src/outbox/delivery/delivery-result.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';
import { TextSources } from '../../../src/outbox/text-sources.js';
import { PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { codeIn, OtpApp, PEPPER, wrongFor } from '../../support/otp/otp-app.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

const { sms, ...COMMON } = OPTIONS;
const { storage: _, ...VALUES } = OPTIONS;
const otp: OtpOptions = { pepper: PEPPER };
const NUMBER = '22670000001';

/** Keeps every line that the application logs. */
class Lines implements LoggerService {
  readonly all: string[] = [];
  readonly log = (...line: unknown[]): void => void this.all.push(line.map(String).join(' '));
  readonly error = this.log;
  readonly warn = this.log;
  readonly debug = this.log;
  readonly verbose = this.log;
  readonly fatal = this.log;
}

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function start(imports: NonNullable<Parameters<typeof Module>[0]['imports']>, lines = new Lines()) {
  @Module({ imports })
  class Host {}
  const app = await NestFactory.createApplicationContext(Host, { logger: lines, abortOnError: false });
  closing.push(() => app.close());
  return app;
}

describe('OtpModule', () => {
  test.each<[string, () => NonNullable<Parameters<typeof Module>[0]['imports']>]>([
    ['MessagingModule.forRoot with otp', () => [MessagingModule.forRoot({ ...OPTIONS, otp })]],
    [
      'MessagingModule.forRootAsync with otp',
      () => [
        MessagingModule.forRootAsync({ storage: MemoryStorage, otp: true, useFactory: () => ({ ...VALUES, otp }) }),
      ],
    ],
    ['OtpModule.forRoot with sms beside it', () => [OtpModule.forRoot({ ...OPTIONS, otp })]],
    [
      'OtpModule.forRootAsync with sms beside it',
      () => [OtpModule.forRootAsync({ storage: MemoryStorage, sms: {}, useFactory: async () => ({ ...VALUES, otp }) })],
    ],
    [
      'OtpModule on a core that it shares with SmsModule',
      () => {
        const core = MessagingCore.forRoot(COMMON);
        return [SmsModule.forRoot({ core, ...sms }), OtpModule.forRootAsync({ core, useFactory: () => ({ otp }) })];
      },
    ],
  ])('%s sends and verifies', async (_, imports) => {
    const app = await start(imports());
    const { id } = await app.get(AccountService).createAccount({ name: 'A' });
    await app.get(LedgerService).topUp(id, 5);
    const service = app.get(OtpService, { strict: false });
    const receipt = await service.send(id, { service: 's', number: NUMBER });
    expect(receipt).toMatchObject({ success: true, channel: 'sms' });
    expect((await service.verify(id, { service: 's', number: NUMBER, otp: '12' })).kind).toBe('malformed');
    expect((await service.verify(id, { service: 't', number: NUMBER, otp: '1234' })).kind).toBe('not_found');
  });

  test('accepts unchecked input from a host for what it is', async () => {
    const service = (await start([MessagingModule.forRoot({ ...OPTIONS, otp })])).get(OtpService, { strict: false });
    // As from a body that nobody validated.
    const verify = (over: object) => service.verify('a', { service: 's', number: NUMBER, otp: '1234', ...over });
    for (const code of [undefined, null, 1234, ['1234'], ['1', '2', '3', '4'], {}]) {
      expect(await verify({ otp: code })).toEqual({ kind: 'malformed' });
    }
    for (const number of [undefined, null, Number(NUMBER), [NUMBER]]) {
      await expect(verify({ number })).rejects.toMatchObject({ code: 'error.invalid_number' });
      const code = service.send('a', { service: 's', number: number as unknown as string });
      await expect(code).rejects.toMatchObject({ code: 'error.invalid_number' });
    }
    await expect(verify({ service: undefined })).rejects.toMatchObject({ code: 'error.field_not_string' });
  });

  test.each<[string, Partial<OtpOptions>]>([
    ['otp.pepper is missing', { pepper: undefined as unknown as string }],
    ['otp.pepper (version 1) is too weak', { pepper: 'short' }],
    ['too easy to guess', { limits: { wrongTries: [] } }],
    ['its text is longer', { services: { shop: { template: `{code}${'x'.repeat(200)}` } } }],
  ])('does not start: %s', async (sentence, over) => {
    await expect(start([MessagingModule.forRoot({ ...OPTIONS, otp: { ...otp, ...over } })])).rejects.toThrow(sentence);
  });

  test('does not start without a channel', async () => {
    const options: OtpModuleOptions = { ...COMMON, otp };
    await expect(start([OtpModule.forRoot(options)])).rejects.toThrow('mount sms or msgapp too');
  });

  test('logs at the start how well codes can be guessed, and warns of "none"', async () => {
    const lines = new Lines();
    await start([MessagingModule.forRoot({ ...OPTIONS, otp })], lines);
    expect(lines.all.join('\n')).toContain('0.03 % per code, 0.1 % a day, 0.3 % in 30 days');
    expect(lines.all.join('\n')).not.toContain('WITHOUT LIMIT');
    const sms = { ...OPTIONS.sms, transport: RecordingTransport };
    const loud = new Lines();
    await start([MessagingModule.forRoot({ ...OPTIONS, sms, otp: { ...otp, limits: 'none' } })], loud);
    expect(loud.all.join('\n')).toContain('WITHOUT LIMIT');
  });

  test('does not warn of limits while every channel is on the sandbox, but of everything else', async () => {
    const lines = new Lines();
    const none = { ...otp, limits: 'none' as const, validitySeconds: 30 };
    const msgapp = { tariff: { text: 1, media: 2 }, credentialsKey: PEPPER };
    await start([MessagingModule.forRoot({ ...OPTIONS, msgapp, otp: none })], lines);
    expect(lines.all.join('\n')).not.toContain('WITHOUT LIMIT');
    expect(lines.all.join('\n')).toContain('otp.validitySeconds is 30');
    const one = new Lines();
    const sms = { ...OPTIONS.sms, transport: RecordingTransport };
    await start([MessagingModule.forRoot({ ...OPTIONS, sms, msgapp, otp: none })], one);
    expect(one.all.join('\n')).toContain('WITHOUT LIMIT');
  });
});

describeOnOneAdapter('OTP in an application', (adapter) => {
  let app: OtpApp;
  afterEach(() => app.close());

  test('allows with "strict" only the home market unless countries are named, and sends an event of its own', async () => {
    app = await OtpApp.start(adapter, { otp: { limits: 'strict' } });
    const events: unknown[] = [];
    const bus = app.app.app.get(MessagingEvents, { strict: false });
    bus.on('otp.refused', ({ account, data }) => events.push([account, data]));
    const abroad = await app.send({ service: 's', number: '33612345678' });
    expect(abroad.body).toEqual({ statusCode: 403, message: 'Destination non autorisée', error: 'Forbidden' });
    expect((await app.send({ service: 's', number: NUMBER })).status).toBe(200);
    const soon = await app.send({ service: 's', number: NUMBER });
    expect(soon.body).toMatchObject({ statusCode: 429, message: 'Trop de codes demandés, réessayez plus tard' });
    expect(soon.headers.get('retry-after')).toBe('60');
    const { accountId } = app.app;
    expect(events).toEqual([
      [accountId, { service: 's', number: '33612345678', reason: 'country', retry_after: null }],
      [accountId, { service: 's', number: NUMBER, reason: 'cooldown', retry_after: 60 }],
    ]);
    expect(await app.balance()).toMatchObject({ balance: 999 });
  });

  test('uses a signature, a template and six digits if the options say so', async () => {
    const services = {
      bank: { signature: 'ALERTE', template: '{code} pour {service}, {validity}' },
      own: { signature: 'MINE' },
    };
    app = await OtpApp.start(adapter, { otp: { length: 6, validitySeconds: 120, services } });
    const code = await app.codeFor(NUMBER, 'bank');
    expect(code).toMatch(/^\d{6}$/);
    expect(await app.texts(NUMBER, 1)).toEqual([`${code} pour bank, 2 min`]);
    expect((await app.send({ service: 'own', number: NUMBER })).body).toMatchObject({
      message: 'Signature non vérifiée ou invalide',
    });
    const verify = (given: string) => app.verify({ otp: given, number: NUMBER, service: 'bank' });
    expect((await verify('1234')).body).toMatchObject({ statusCode: 400, message: 'Code de vérification invalide' });
    expect((await verify(code)).status).toBe(200);
  });

  test('is charged by the tariff of the number', async () => {
    app = await OtpApp.start(adapter, {});
    await app.send({ service: 's', number: '221700000001' });
    await app.send({ service: 's', number: '33612345678' });
    expect(await app.balance()).toMatchObject({ balance: 1000 - 2 - 3 });
  });

  test('speaks English if asked to', async () => {
    app = await OtpApp.start(adapter, { messaging: { locale: 'en' } });
    const code = await app.codeFor(NUMBER, 'Shop');
    expect(await app.texts(NUMBER, 1)).toEqual([`${code} is your verification code for Shop. Valid for 5 min.`]);
    const { body } = await app.verify({ otp: wrongFor(code), number: NUMBER, service: 'Shop' });
    expect(body).toMatchObject({ message: 'Invalid verification code' });
  });

  test('goes over any channel that can price a text, by its name, and a resend over another channel has the same code', async () => {
    app = await OtpApp.start(adapter, {});
    const nest = app.app.app;
    const channel = new CourierChannel(nest.get(TextSources, { strict: false }));
    nest.get(Channels, { strict: false }).register(channel);
    const code = await app.codeFor(NUMBER, 's');
    const { status, body } = await app.send({ service: 's', number: NUMBER, channel: 'courier' });
    expect([status, body]).toMatchObject([200, { channel: 'courier' }]);
    expect(await app.balance()).toMatchObject({ balance: 1000 - 1 - 7 });
    expect((await app.send({ service: 's', number: NUMBER, channel: 'Courier' })).status).toBe(400);
    const clock = nest.get(Clock, { strict: false });
    const order = { channel: 'courier', limit: 9, now: clock.now(), leaseUntil: clock.now() + 1000, abandoned: false };
    const { OutboxStore } = await import('../../../src/outbox/outbox-store.js');
    await channel.deliver(await nest.get(OutboxStore, { strict: false }).claim(order));
    expect(channel.texts.map(codeIn)).toEqual([code]);
  });
});

/** A channel beside SMS, such as a messaging app. */
class CourierChannel extends Channel {
  override readonly name = 'courier';
  override readonly repeat = 'idempotent';
  override readonly timing = DEFAULT_TIMING;
  readonly texts: string[] = [];

  constructor(private readonly sources: TextSources) {
    super();
  }

  override async draft() {
    return { sender: 'courier', units: 7 };
  }
  override async start(): Promise<void> {}
  override async deliver(batch: readonly Delivery[]) {
    this.texts.push(...batch.map(({ payload }) => this.sources.textOf(payload)));
    return batch.map(() => ({ kind: 'sent' as const }));
  }
  override lanes(): undefined {
    return undefined;
  }
  override async stop(): Promise<void> {}
}

describeOnOneAdapter('a code is left nowhere', (adapter) => {
  test('except on the phone: not in the database, its journal or the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'messaging-leak-'));
    closing.push(async () => rmSync(folder, { recursive: true }));
    const lines = new Lines();
    const phones = (await SqliteMemory.open()).store(PhoneStore);
    const storage = new TypeormStorage({ database: `sqlite:${join(folder, 'm.db')}` });
    // The sandbox's phones show codes, because that is their purpose. In this test they are stored elsewhere.
    const store = storage.store.bind(storage);
    storage.store = (port) => (phones instanceof port ? phones : store(port));
    const app = await OtpApp.start(adapter, { storage, otp: { length: 8 }, options: { logger: lines } });
    const codes: string[] = [];
    for (let index = 0; index < 30; index++) {
      const number = `2267100${String(index).padStart(4, '0')}`;
      const code = await app.codeFor(number, 's');
      codes.push(code);
      await app.send({ service: 's', number }, { 'idempotency-key': `k${index}` });
      await app.verify({ otp: wrongFor(code), number, service: 's' });
      if (index % 2 === 0) expect((await app.verify({ otp: code, number, service: 's' })).status).toBe(200);
    }
    const scan = () => [
      ...readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1')),
      lines.all.join('\n'),
      JSON.stringify(app.app.app.get(MessagingEvents, { strict: false })),
    ];
    const leaks = (texts: readonly string[]) => codes.filter((code) => texts.some((text) => text.includes(code)));
    expect(leaks(scan())).toEqual([]);
    expect(scan().join('').length).toBeGreaterThan(50_000);
    // The scan finds texts that are there: the very texts that were sent.
    expect(leaks(await app.texts('22671000000', 2))).toEqual([codes[0]]);
    await app.close();
    expect(leaks(scan())).toEqual([]);
  });
});
