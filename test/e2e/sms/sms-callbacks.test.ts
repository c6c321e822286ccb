import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Body, Controller, type LoggerService, Module, Post } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { json, type RequestHandler, raw } from 'express';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import type { CallbackAnswer, CarrierCallback, SmsSink } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { type Adapter, describeOnBothAdapters } from '../../support/http/http-apps.js';
import { type MessagingApp, OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { rawFetch } from '../../support/openapi/openapi-raw-fetch.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

const SECRET = 'nPk2QeYc1mUoT7xZ';
const MAX_BYTES = 1_048_576;

@Controller()
class HostController {
  @Post('api/v1/sms/callbacks')
  near(@Body() body: unknown): unknown {
    return { host: body };
  }
}

@Module({ controllers: [HostController] })
class HostModule {}

/** A carrier whose calls the test answers. */
class CallingTransport extends ScriptedTransport {
  readonly calls: { callback: CarrierCallback; sink: SmsSink }[] = [];
  reply: () => Promise<CallbackAnswer> = async () => ({ status: 200 });

  constructor() {
    super();
    this.callbacks.set('carrier', (callback, sink) => {
      this.calls.push({ callback, sink });
      return this.reply();
    });
  }
}

describeOnBothAdapters('the route for calls of carriers', (adapter: Adapter) => {
  const transport = new CallingTransport();
  const clock = new FakeClock();
  const lines: string[] = [];
  const log = (...words: unknown[]) => void lines.push(words.map(String).join(' '));
  const logger: LoggerService = { log, warn: log, error: log, debug: log, verbose: log, fatal: log };
  let app: MessagingApp;

  beforeAll(async () => {
    app = await startMessaging(
      adapter,
      { sms: { ...OPTIONS.sms, transport: { useValue: transport } }, clock: { useValue: clock } },
      { imports: [HostModule], options: { logger } },
    );
  });
  beforeEach(() => {
    transport.calls.length = 0;
    transport.reply = async () => ({ status: 200 });
    lines.length = 0;
  });
  afterAll(() => app.close());

  const post = (path: string, init: RequestInit = {}) =>
    fetch(`${app.url}/api/v1/sms/callbacks/${path}`, { method: 'POST', ...init });

  const last = () => transport.calls.at(-1)?.callback;

  test.each([
    ['application/x-www-form-urlencoded', Buffer.from('a=1&b=%20&a=+')],
    ['application/json', Buffer.from('{ "a" :1}')],
    ['application/json', Buffer.from('{ broken')],
    ['text/xml; charset=iso-8859-1', Buffer.from([0x3c, 0xe9, 0x00, 0xff])],
    ['multipart/form-data; boundary=x', Buffer.from('--x--')],
    [undefined, Buffer.from('bare')],
  ])('passes the body on as it came: %s', async (type, body) => {
    const answer = await post('carrier', { body, headers: type === undefined ? {} : { 'content-type': type } });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect(Buffer.from(last()?.body ?? [])).toEqual(body);
    if (type !== undefined) expect(last()?.headers['content-type']).toBe(type);
  });

  test('passes on how it was called', async () => {
    await post(`carrier/${SECRET}?a=1&b=%2F`, { headers: { 'X-Signature': 'abc' } });
    expect(last()).toMatchObject({
      method: 'POST',
      url: `${app.url}/api/v1/sms/callbacks/carrier/${SECRET}?a=1&b=%2F`,
      secret: SECRET,
      headers: { 'x-signature': 'abc' },
    });
    expect(last()?.body).toHaveLength(0);
    await post('carrier');
    expect(last()?.secret).toBeUndefined();
    await post('carrier/a%2Fb%C3%A9');
    expect(last()?.secret).toBe('a/bé');
  });

  test('passes the answer on', async () => {
    transport.reply = async () => ({ status: 202, body: '<Response/>', contentType: 'text/xml' });
    const xml = await post('carrier');
    expect([xml.status, await xml.text()]).toEqual([202, '<Response/>']);
    expect(xml.headers.get('content-type')).toMatch(/^text\/xml/);
    transport.reply = async () => ({ status: 418, body: 'no' });
    const no = await post('carrier');
    expect([no.status, await no.text(), no.headers.get('content-type')]).toEqual([
      418,
      'no',
      'text/plain; charset=utf-8',
    ]);
    transport.reply = async () => ({ status: 204 });
    expect((await post('carrier')).status).toBe(204);
  });

  test('asks for no key and reads none', async () => {
    expect((await post('carrier', { headers: { 'x-api-key': 'nonsense' } })).status).toBe(200);
  });

  test.each([
    [400, 'Bad Request', 'Appel illisible'],
    [403, 'Forbidden', "La signature de l'appel n'est pas valide"],
    [404, 'Not Found', "Aucun opérateur n'est attendu ici"],
    [415, 'Unsupported Media Type', "Le jeu de caractères de l'appel est inconnu"],
    [503, 'Service Unavailable', 'Service momentanément indisponible'],
  ])('gives a %i without a body our error body', async (statusCode, error, message) => {
    transport.reply = async () => ({ status: statusCode });
    const answer = await post('carrier');
    expect([answer.status, await answer.json()]).toEqual([statusCode, { statusCode, message, error }]);
    expect(answer.headers.get('retry-after')).toBe(statusCode === 503 ? '1' : null);
  });

  test.each(['nobody', 'Carrier', 'carrie', `nobody/${SECRET}`, 'constructor', '__proto__'])(
    'answers an unknown carrier’s name like a wrong secret: %s',
    async (path) => {
      const answer = await post(path, { body: 'x' });
      const message = "Aucun opérateur n'est attendu ici";
      expect(await answer.json()).toEqual({ statusCode: 404, message, error: 'Not Found' });
      expect(transport.calls).toEqual([]);
    },
  );

  test('makes a carrier repeat its call if the storage is unavailable', async () => {
    transport.reply = () => Promise.reject(new StorageUnavailableError('no connection'));
    const answer = await post('carrier');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  test('does not reveal the cause of a fault or the secret', async () => {
    transport.reply = () => Promise.reject(new Error('a fault'));
    const answer = await post(`carrier/${SECRET}`, { body: 'text of somebody' });
    const body = await answer.json();
    expect(body).toMatchObject({ statusCode: 500, error: 'Internal Server Error' });
    expect(lines.join('\n')).toContain('a fault');
    expect(`${lines.join('\n')}${JSON.stringify(body)}`).not.toMatch(/nPk2|somebody/);
  });

  test('accepts bodies up to a limit', async () => {
    expect((await post('carrier', { body: Buffer.alloc(MAX_BYTES) })).status).toBe(200);
    expect(last()?.body).toHaveLength(MAX_BYTES);
    const large = await post('carrier', { body: Buffer.alloc(MAX_BYTES + 1) });
    expect([large.status, await large.json()]).toEqual([
      413,
      { statusCode: 413, message: 'Requête trop volumineuse', error: 'Payload Too Large' },
    ]);
    const chunks = new ReadableStream({
      pull: (controller) => controller.enqueue(Buffer.alloc(65_536)),
    });
    const endless = await post('carrier', { body: chunks, duplex: 'half' } as RequestInit);
    expect(endless.status).toBe(413);
    expect(transport.calls).toHaveLength(1);
  });

  test('accepts forms up to 64 KB, because some carriers must be parsed before they are authenticated', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'Application/X-WWW-Form-Urlencoded; charset=utf-8']) {
      const form = (size: number) =>
        post('carrier', { body: Buffer.alloc(size, '&'), headers: { 'content-type': type } });
      expect((await form(65_536)).status).toBe(200);
      expect((await form(65_537)).status).toBe(413);
    }
    expect(transport.calls).toHaveLength(2);
  });

  test('cuts a call that takes too long', async () => {
    transport.reply = () => new Promise(() => undefined);
    const called = jest.fn();
    const answer = post('carrier').finally(called);
    while (transport.calls.length === 0) await new Promise(setImmediate);
    clock.advance(30_000);
    expect((await answer).status).toBe(504);
  });

  test.each(['carrier', `carrier/${SECRET}`])('accepts GET without a body: %s', async (path) => {
    const url = `${app.url}/api/v1/sms/callbacks/${path}?text=a%20b&n=`;
    const answer = await fetch(url, { headers: { 'X-Signature': 'abc' } });
    expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
    const secret = path === 'carrier' ? undefined : SECRET;
    expect(last()).toMatchObject({ method: 'GET', url, secret, headers: { 'x-signature': 'abc' } });
    expect(last()?.body).toHaveLength(0);
    const withBody = await rawFetch(url, {
      method: 'GET',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect(withBody.status).toBe(413);
    transport.reply = async () => ({ status: 403 });
    expect(await (await fetch(url)).json()).toMatchObject({ statusCode: 403 });
    // One line a minute of each kind.
    const kind = `a fault by GET at ${path.length} characters`;
    transport.reply = () => Promise.reject(new Error(kind));
    expect((await fetch(url)).status).toBe(500);
    // The words of a phone and the secret are in the URL.
    expect(lines.join('\n')).toContain(kind);
    expect(lines.join('\n')).not.toMatch(/a%20b|nPk2/);
    expect(transport.calls).toHaveLength(3);
  });

  test.each(['carrier', `carrier/${SECRET}`])('does not accept HEAD, which only checks a link: %s', async (path) => {
    expect((await fetch(`${app.url}/api/v1/sms/callbacks/${path}`, { method: 'HEAD' })).status).toBe(404);
    expect(transport.calls).toEqual([]);
  });

  test.each(['PUT', 'DELETE'])('does not accept %s', async (method) => {
    expect((await fetch(`${app.url}/api/v1/sms/callbacks/carrier`, { method })).status).toBe(404);
    expect(transport.calls).toEqual([]);
  });

  test('leaves the host’s own routes beside it alone', async () => {
    const send = (body: string, type: string) =>
      fetch(`${app.url}/api/v1/sms/callbacks`, { method: 'POST', body, headers: { 'content-type': type } });
    expect(await (await send('{"a":1}', 'application/json')).json()).toEqual({ host: { a: 1 } });
    const broken = await send('{', 'application/json');
    expect([broken.status, Object.keys(Object(await broken.json()))]).toEqual([
      400,
      expect.arrayContaining(['message']),
    ]);
  });
});

describeOnBothAdapters('the URL that a carrier has called', (adapter: Adapter) => {
  test.each([
    ['https://api.example.com', 'https://api.example.com/gate/api/v1/sms/callbacks/carrier?x=1'],
    ['https://example.com/inner/', 'https://example.com/inner/gate/api/v1/sms/callbacks/carrier?x=1'],
  ])('is known behind a proxy, with callbackBaseUrl %s', async (callbackBaseUrl, url) => {
    const transport = new CallingTransport();
    const app = await startMessaging(
      adapter,
      { sms: { ...OPTIONS.sms, transport: { useValue: transport }, callbackBaseUrl } },
      { configure: (nest) => void nest.setGlobalPrefix('gate') },
    );
    await fetch(`${app.url}/gate/api/v1/sms/callbacks/carrier?x=1`, { method: 'POST' });
    await app.close();
    expect(transport.calls[0]?.callback.url).toBe(url);
  });

  test.each(['api.example.com', 'ftp://example.com', 'https://example.com?a', 'https://u:p@example.com', ''])(
    'cannot be built from the callbackBaseUrl %s, which is refused',
    async (callbackBaseUrl) => {
      const start = startMessaging(adapter, { sms: { ...OPTIONS.sms, callbackBaseUrl } });
      await expect(start).rejects.toThrow('Option sms.callbackBaseUrl must be an http or https URL');
    },
  );

  test('is known in a process that does not deliver', async () => {
    const transport = new CallingTransport();
    const app = await startMessaging(adapter, {
      sms: { ...OPTIONS.sms, transport: { useValue: transport } },
      role: 'api',
    });
    const inbound = jest.fn();
    await fetch(`${app.url}/api/v1/sms/callbacks/carrier`, { method: 'POST' });
    const { MessagingEvents } = await import('../../../src/events/messaging-events.js');
    app.app.get(MessagingEvents, { strict: false }).on('sms.received', inbound);
    const text = { route: 'carrier', from: '22670000000', to: '1234', text: 'STOP' };
    await transport.calls[0]?.sink.inbound([text]);
    await app.close();
    expect(inbound).toHaveBeenCalledWith(expect.objectContaining({ data: expect.objectContaining({ text: 'STOP' }) }));
  });
});

describe('a body parser of the host in front of everything (express)', () => {
  const keep = (req: object, _res: unknown, bytes: Buffer) => void Object.assign(req, { rawBody: bytes });

  async function posted(parser: RequestHandler, type: string) {
    const transport = new CallingTransport();
    const lines: string[] = [];
    const log = (...words: unknown[]) => void lines.push(words.map(String).join(' '));
    const app = await startMessaging(
      'express',
      { sms: { ...OPTIONS.sms, transport: { useValue: transport } } },
      { platform: new ExpressAdapter(express().use(parser)), options: { logger: { log, warn: log, error: log } } },
    );
    const answer = await fetch(`${app.url}/api/v1/sms/callbacks/carrier`, {
      method: 'POST',
      body: '{ "a": 1}',
      headers: { 'content-type': type },
    });
    await app.close();
    return { status: answer.status, log: lines.join(), body: transport.calls[0]?.callback.body?.toString() };
  }

  test.each<[string, RequestHandler, string]>([
    ['that is for other content types', json(), 'text/plain'],
    ['that keeps the bytes', json({ verify: keep }), 'application/json'],
    ['that gives the bytes', raw({ type: () => true }), 'text/xml'],
  ])('does no harm %s', async (_, parser, type) => {
    expect(await posted(parser, type)).toMatchObject({ status: 200, body: '{ "a": 1}' });
  });

  test('that discards the bytes is a fault, and the log says what to do', async () => {
    const { status, log, body } = await posted(json(), 'application/json');
    expect([status, body]).toEqual([500, undefined]);
    expect(log).toContain('exclude their path');
  });
});
