import fastifyCompress from '@fastify/compress';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import compression from 'compression';
import { asUser, TestUsers } from '../../support/accounts/users.js';
import { eventually } from '../../support/common/eventually.js';
import { EventReader } from '../../support/events/event-reader.js';
import { delivered, logEventsOf } from '../../support/events/logged-events.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { MANAGEMENT_SECRET } from '../../support/management/manage-app.js';
import { startService } from '../../support/mounting/services.js';
import { MsgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

const closing: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A host that compresses its answers from the first byte on. */
const WAYS: Readonly<Record<Adapter, Readonly<Record<string, (app: INestApplication) => unknown>>>> = {
  express: { 'app.use(compression())': (app) => app.use(compression({ threshold: 0 })) },
  fastify: {
    'app.use(compression())': (app) => app.use(compression({ threshold: 0 })),
    '@fastify/compress': (app) => (app as NestFastifyApplication).register(fastifyCompress, { threshold: 0 }),
  },
};

describeOnBothAdapters('a host that compresses', (adapter) => {
  describe.each(Object.entries(WAYS[adapter]))('by %s', (_, configure) => {
    async function start() {
      const service = await startMsgapp(
        (options, setup) => startService(adapter, options, setup),
        {
          webhooks: { pepper: PEPPER },
          management: { secret: MANAGEMENT_SECRET },
          userTokens: TestUsers,
        },
        { configure: async (app) => void (await configure(app)) },
      );
      closing.push(() => service.close());
      return service;
    }

    /** Asks like a browser, which accepts every compression. A compressed stream would not be text. */
    async function open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<EventReader> {
      const reader = await EventReader.open(url, { 'accept-encoding': 'gzip, deflate, br', ...headers });
      closing.unshift(() => reader.leave());
      return reader;
    }

    const expectStream = ({ response: { headers } }: EventReader) => {
      expect(headers['cache-control']).toMatch(/\bno-store\b.*\bno-transform\b/);
      expect(headers['content-encoding']).toBeUndefined();
      expect(headers['x-accel-buffering']).toBe('no');
    };

    test('events arrive as they happen', async () => {
      const service = await start();
      const client = await service.client();
      await client.call('events');
      const stream = await open(`${client.url}/events/stream`, { 'x-api-key': client.key });
      await eventually(() => stream.text.includes(': open'));
      await logEventsOf(service, [delivered(client.accountId, 1)]);
      await stream.until(({ data }) => data.type === 'message.delivered');
      expectStream(stream);
    });

    test('the codes to link a number arrive', async () => {
      const service = await start();
      const { qr_url } = await new MsgappClient(await service.client(), service.url).connect();
      const stream = await open(qr_url);
      await stream.first('qr');
      expectStream(stream);
    });

    test('the progress of a ledger check arrives', async () => {
      const service = await start();
      const user = asUser({ subject: 'odile', role: 'operator' });
      const url = `${service.url}/api/v1/manage/ledger/check`;
      await call(url, { method: 'POST', headers: user });
      const stream = await open(`${url}/stream`, user);
      await stream.first('check');
      expectStream(stream);
    });

    test('messages to the sandbox’s phones arrive', async () => {
      const service = await start();
      const client = await service.client();
      const stream = await open(`${service.url}/sandbox/events`);
      await eventually(() => stream.text.includes(': open'));
      await client.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
      await eventually(() => stream.text.includes('Bonjour'));
      expectStream(stream);
    });

    test('a file of the ledger is not transformed, and any other answer is compressed as the host configures it', async () => {
      const service = await start();
      const client = await service.client();
      const user = asUser({ subject: 'awa', accountId: client.accountId, role: 'viewer' });
      const ask = (path: string, accept: string) =>
        EventReader.open(`${client.url}/${path}`, { ...user, 'accept-encoding': 'gzip', accept });
      const file = await ask('ledger', 'text/csv');
      expect(file.response.headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'cache-control': 'no-transform',
      });
      const balance = await ask('balance', 'application/json');
      expect(balance.response.headers).toMatchObject({ 'content-encoding': 'gzip' });
    });
  });
});
