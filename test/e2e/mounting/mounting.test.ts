import { describe, expect, test } from '@jest/globals';
import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  HttpCode,
  Injectable,
  Module,
  Post,
  ValidationPipe,
} from '@nestjs/common';
import { IsString } from 'class-validator';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { SmsModule } from '../../../src/sms/sms.module.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, mount, unmountAfterEach } from '../../support/mounting/mounted.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000', '221701234567'] };
const { sms: SMS, ...CORE } = OPTIONS;

unmountAfterEach();

/** The class in which a host keeps its settings. */
@Injectable()
class HostConfig {
  readonly tariff = { base: 5, international: 9, home: 'SN' };
  readonly signatures = ['UN', 'DEUX', 'TROIS'];
}

@Module({ providers: [HostConfig], exports: [HostConfig] })
class HostConfigModule {}

describeOnBothAdapters('mounting', (adapter) => {
  test('MessagingModule.forRoot', async () => {
    const running = await mount(adapter, [MessagingModule.forRoot(OPTIONS)]);
    const client = await clientOf(running);
    expect(await client.sent(SEND)).toMatchObject({ sms_units: 3 });
    expect(await client.balance()).toBe(7);
  });

  test('MessagingModule.forRootAsync with a module of the host, at once or later', async () => {
    for (const wrap of [<T>(value: T) => value, <T>(value: T) => Promise.resolve(value)]) {
      const running = await mount(adapter, [
        MessagingModule.forRootAsync({
          path: 'v2/msg',
          storage: MemoryStorage,
          imports: [HostConfigModule],
          inject: [HostConfig],
          useFactory: ({ tariff, signatures }: HostConfig) =>
            wrap({ signatures, locale: 'en' as const, sms: { tariff, maxRecipients: 2 } }),
        }),
      ]);
      const client = await clientOf(running, { units: 20, path: 'v2/msg' });
      expect(await client.sent({ ...SEND, signature: 'DEUX' })).toMatchObject({ sms_units: 14 });
      expect((await client.send(SEND)).body).toMatchObject({ message: 'Signature not verified or invalid' });
      expect((await client.send({ ...SEND, number: ['1', '2', '3'] })).body).toMatchObject({
        message: 'Too many recipients: 3, at most 2',
      });
    }
  });

  test('SmsModule alone, with options at once and from a factory', async () => {
    for (const module of [
      SmsModule.forRoot({ ...CORE, ...SMS, path: 'x', maxSegments: 1 }),
      SmsModule.forRootAsync({
        path: 'x',
        storage: MemoryStorage,
        imports: [HostConfigModule],
        inject: [HostConfig],
        useFactory: (_config: HostConfig) => ({ signatures: CORE.signatures, ...SMS, maxSegments: 1 }),
      }),
    ]) {
      const running = await mount(adapter, [module]);
      const client = await clientOf(running, { path: 'x' });
      expect(await client.sent(SEND)).toMatchObject({ sms_units: 3 });
      expect(await client.balance()).toBe(7);
      expect((await client.send({ ...SEND, content: 'a'.repeat(161) })).body).toMatchObject({
        message: 'Message trop long : 2 segments, maximum 1',
      });
    }
  });

  test('SmsModule on a core that others may share, with options at once and from a factory', async () => {
    for (const sms of [
      (core: ReturnType<typeof MessagingCore.forRoot>) => SmsModule.forRoot({ core, ...SMS, maxRecipients: 2 }),
      (core: ReturnType<typeof MessagingCore.forRoot>) =>
        SmsModule.forRootAsync({
          core,
          imports: [HostConfigModule],
          inject: [HostConfig],
          useFactory: async (_config: HostConfig) => ({ ...SMS, maxRecipients: 2 }),
        }),
    ]) {
      const core = MessagingCore.forRoot({ ...CORE, path: 'shared', locale: 'en' });
      const running = await mount(adapter, [core, sms(core), SandboxModule.forRoot()]);
      const client = await clientOf(running, { path: 'shared' });
      expect(await client.sent(SEND)).toMatchObject({ sms_units: 3 });
      expect(await client.balance()).toBe(7);
      expect((await client.send({ ...SEND, number: ['2267000000', '2267000001', '2267000002'] })).body).toMatchObject({
        message: 'Too many recipients: 3, at most 2',
      });
      expect(await call(`${running.url}/sandbox/phones/22670000000/messages`)).toMatchObject({ status: 200 });
    }
  });

  test('a core by itself has the balance and nothing else', async () => {
    const running = await mount(adapter, [MessagingCore.forRoot(CORE)]);
    const client = await clientOf(running);
    expect(await client.balance()).toBe(10);
    expect((await client.send(SEND)).status).toBe(404);
  });

  test('refuses a second core with a sentence that says what to do', async () => {
    const sentence = /^There are two messaging cores in this application\. .*MessagingCore\.forRoot/;
    await expect(mount(adapter, [MessagingModule.forRoot(OPTIONS), MessagingModule.forRoot(OPTIONS)])).rejects.toThrow(
      sentence,
    );
    await expect(
      mount(adapter, [MessagingModule.forRoot(OPTIONS), SmsModule.forRoot({ ...CORE, ...SMS, path: 'other' })]),
    ).rejects.toThrow(sentence);
    await expect(
      mount(adapter, [
        MessagingCore.forRoot(CORE),
        SmsModule.forRoot({ core: MessagingCore.forRoot({ ...CORE, path: 'b' }), ...SMS }),
      ]),
    ).rejects.toThrow(sentence);
  });

  test('controllers: false gives services, which work, and no route', async () => {
    @Injectable()
    class Shop {
      constructor(
        readonly sms: SmsService,
        readonly ledger: LedgerService,
      ) {}
    }
    @Module({ providers: [Shop] })
    class ShopModule {}
    const running = await mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, controllers: false }), ShopModule]);
    const client = await clientOf(running);
    for (const path of ['balance', 'sms', 'sms/1', 'nothing']) {
      expect(await client.call(path)).toMatchObject({ status: 404, body: { message: `Cannot GET /api/v1/${path}` } });
    }
    for (const path of ['send/sms', 'sms/quote']) {
      expect(await client.post(path, SEND)).toMatchObject({ status: 404 });
    }
    const shop = running.app.get(Shop, { strict: false });
    const receipt = await shop.sms.send(client.accountId, SEND);
    expect(receipt).toMatchObject({ sms_units: 3, number: SEND.number });
    expect(await shop.ledger.balance(client.accountId)).toBe(7);
    expect(await shop.sms.get(client.accountId, receipt.smsID)).toMatchObject({ content: 'Bonjour' });
    await expect(shop.sms.send(client.accountId, { ...SEND, number: [] })).rejects.toMatchObject({
      code: 'error.field_not_list',
    });
    await expect(shop.sms.send(client.accountId, { ...SEND, number: ['06'] })).rejects.toMatchObject({
      code: 'error.invalid_number',
    });
  });

  test('a path of its own goes behind the host’s global prefix', async () => {
    const running = await mount(adapter, [MessagingModule.forRoot({ ...OPTIONS, path: '/sms/v7/' })], {
      configure: (app) => void app.setGlobalPrefix('shop'),
    });
    const client = await clientOf(running, { path: 'shop/sms/v7' });
    expect(await client.sent(SEND)).toMatchObject({ sms_units: 3 });
    expect((await client.send('[1', { 'content-type': 'application/json' })).body).toMatchObject({
      message: 'Le corps de la requête n’est pas un JSON valide',
    });
    for (const path of ['api/v1', 'sms/v7', 'shop/api/v1']) {
      expect((await call(`${running.url}/${path}/balance`, { headers: { 'x-api-key': client.key } })).status).toBe(404);
    }
  });

  test('leaves the host’s own routes their pipes, limits, guards and errors', async () => {
    class Note {
      @IsString()
      text!: string;
    }
    @Controller('api/v1')
    class HostController {
      @Post('notes')
      @HttpCode(201)
      note(@Body() note: Note) {
        return { note };
      }

      @Get('balance/mine')
      mine() {
        throw new ForbiddenException(['one', 'two']);
      }
    }
    const running = await mount(adapter, [MessagingModule.forRoot(OPTIONS)], {
      host: { controllers: [HostController] },
      configure: (app) =>
        void app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true })),
    });
    const client = await clientOf(running);
    const notes = `${running.url}/api/v1/notes`;
    const post = (body: unknown) =>
      call(notes, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect(await post({ text: 'x' })).toMatchObject({ status: 201, body: { note: { text: 'x' } } });
    expect((await post({ text: 5, more: 1 })).body).toMatchObject({
      statusCode: 400,
      message: expect.arrayContaining([expect.stringContaining('should not exist')]),
    });
    expect((await post({ text: 'x'.repeat(1_100_000) })).status).toBe(413);
    expect((await post('{')).body).not.toMatchObject({ message: expect.stringContaining('requête') });
    expect((await call(`${running.url}/api/v1/balance/mine`)).body).toEqual({
      statusCode: 403,
      message: ['one', 'two'],
      error: 'Forbidden',
    });
    // Our routes are unchanged: unknown fields are ignored, large bodies are read.
    expect(await client.send({ ...SEND, more: 'x'.repeat(2_000_000) })).toMatchObject({ status: 200 });
    // The host’s own 404, also below our path.
    expect((await client.call('nothing')).body).toMatchObject({ message: 'Cannot GET /api/v1/nothing' });
  });
});

describe('two hosts in one process', () => {
  test('share no path, no language, no keys and no messages', async () => {
    const one = await mount('express', [MessagingModule.forRoot({ ...OPTIONS, path: 'one', locale: 'en' })]);
    const two = await mount('fastify', [
      MessagingModule.forRoot({
        ...OPTIONS,
        path: 'two',
        signatures: ['UN', 'DEUX', 'TROIS'],
        sms: { tariff: { base: 4, international: 8, home: 'SN' } },
      }),
    ]);
    const three = await mount('express', [MessagingModule.forRoot({ ...OPTIONS, path: 'one' })]);
    const first = await clientOf(one, { path: 'one' });
    const second = await clientOf(two, { path: 'two', units: 20 });
    const third = await clientOf(three, { path: 'one' });
    expect(await first.sent(SEND)).toMatchObject({ sms_units: 3 });
    expect(await second.sent({ ...SEND, signature: 'UN' })).toMatchObject({ sms_units: 12 });
    expect((await first.send({ ...SEND, content: '' })).body).toMatchObject({
      message: 'The message must not be empty',
    });
    expect((await second.send({ ...SEND, content: '' })).body).toMatchObject({
      message: 'Le message ne doit pas être vide',
    });
    expect((await third.send({ ...SEND, content: '' })).body).toMatchObject({
      message: 'Le message ne doit pas être vide',
    });
    for (const url of [two.url, three.url]) {
      for (const path of ['one', 'two']) {
        const { status } = await call(`${url}/${path}/balance`, { headers: { 'x-api-key': first.key } });
        expect(status).toBe((url === two.url) === (path === 'two') ? 401 : 404);
      }
    }
    expect([await first.balance(), await second.balance(), await third.balance()]).toEqual([7, 8, 10]);
    expect((await third.list()).items).toEqual([]);
  });
});
