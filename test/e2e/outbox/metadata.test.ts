import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SmsService } from '../../../src/sms/sms-service.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const TO = '22670000001';
const SMS = { signature: 'INFOS', content: 'Bonjour', number: [TO] };
const METADATA = { order: '4711', مفتاح: '\u200fقيمة', '🌍': 'Sahel 👩‍👩‍👧‍👦', 'a.b[c]&d=%': '+ x' };
const TOO_LARGE = 'Métadonnées trop volumineuses : maximum 16 clés et 512 caractères en tout';
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));

describeService('metadata', (start) => {
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;
  let api: ApiClient;

  beforeAll(async () => {
    files = await FileServer.open();
    service = await startMsgapp(start);
    client = await msgappClient(service, 10_000);
    api = client.api;
    await client.link('22670000100');
  });
  afterAll(() => files.close());

  /** A send on each route that accepts metadata, under a key of its own. */
  const sendEverywhere = (metadata: unknown, key?: string) => {
    const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key };
    return Promise.all([
      api.send({ ...SMS, metadata }, headers),
      api.post('send/otp', { service: key ?? 'shop', number: TO, metadata }, headers),
      client.text({ to: TO, body: 'x', metadata }, headers),
      client.media({ to: TO, mediaUrl: files.url('/photo.png'), metadata }, headers),
    ]);
  };
  const search = async (query: string) => {
    const { status, body } = await api.call(`sms?${query}`);
    return { status, ids: (body as { items?: { smsID: string }[] }).items?.map(({ smsID }) => smsID) };
  };

  test('is accepted by every send, and returned unchanged in look-ups and listings', async () => {
    const [sms, code, text, media] = await sendEverywhere(METADATA);
    expect([sms, code, text, media].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(sms.body).not.toHaveProperty('metadata');
    const { smsID } = sms.body as { smsID: string };
    expect(await api.details(smsID)).toHaveProperty('metadata', METADATA);
    expect((await api.list()).items[0]).toHaveProperty('metadata', METADATA);
    for (const reply of [text, media]) {
      expect(await client.message(MsgappClient.idOf(reply))).toHaveProperty('metadata', METADATA);
    }
  });

  test.each([undefined, null])('is null in look-ups if a send had %p', async (metadata) => {
    const { smsID } = await api.sent({ ...SMS, metadata });
    expect(await api.details(smsID)).toHaveProperty('metadata', null);
  });

  test.each<[string, unknown, string, string]>([
    ['a text', 'x', 'field_not_object', 'Le champ metadata doit être un objet'],
    ['a number', 1, 'field_not_object', 'Le champ metadata doit être un objet'],
    ['a list', [['order', '4711']], 'field_not_object', 'Le champ metadata doit être un objet'],
    ['17 keys', keys(17), 'metadata_too_large', TOO_LARGE],
    ['513 characters', { k: 'é'.repeat(512) }, 'metadata_too_large', TOO_LARGE],
    ['a number in it', { a: 1 }, 'field_not_string', 'Le champ metadata.a doit être une chaîne de caractères'],
    ['null in it', { a: null }, 'field_not_string', 'Le champ metadata.a doit être une chaîne de caractères'],
    ['levels', { a: { b: 'c' } }, 'field_not_string', 'Le champ metadata.a doit être une chaîne de caractères'],
    ['NUL', { a: '\0' }, 'field_invalid', 'Le champ metadata.a est invalide'],
    ['a lone surrogate', { a: '\ud800' }, 'field_invalid', 'Le champ metadata.a est invalide'],
  ])('of another shape is a 400 on every route, and nothing is charged: %s', async (_name, metadata, word, message) => {
    const before = await api.balance();
    const asked = files.asked.get('/photo.png');
    for (const reply of await sendEverywhere(metadata)) {
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([400, word]);
      expect(reply.body).toEqual({ statusCode: 400, message, error: 'Bad Request' });
    }
    expect([await api.balance(), files.asked.get('/photo.png')]).toEqual([before, asked]);
  });

  test('with __proto__ is a 400', async () => {
    const body = `${JSON.stringify(SMS).slice(0, -1)},"metadata":{"__proto__":"x"}}`;
    const headers = { 'x-api-key': api.key, 'content-type': 'application/json' };
    const answer = await fetch(`${api.url}/send/sms`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
  });

  test('of 16 keys and of 512 characters is accepted, whatever its length in UTF-16', async () => {
    const most = { k: '🌍'.repeat(511) };
    for (const metadata of [keys(16), most]) {
      const { smsID } = await api.sent({ ...SMS, metadata });
      expect(await api.details(smsID)).toHaveProperty('metadata', metadata);
    }
  });

  test('is checked after the numbers and before the text', async () => {
    const worst = { ...SMS, content: ' ', signature: 'NOBODY', metadata: 1 };
    expect((await api.send({ ...worst, number: ['+226'] })).body).toMatchObject({
      message: 'Numéro invalide : +226',
    });
    expect((await api.send(worst)).body).toMatchObject({ message: 'Le champ metadata doit être un objet' });
  });

  test('is part of the body of an Idempotency-Key, in any order of its keys', async () => {
    const statuses = async (metadata: unknown) =>
      (await sendEverywhere(metadata, 'with-metadata')).map(({ status }) => status);
    expect(await statuses({ a: '1', b: '2' })).toEqual([200, 200, 200, 200]);
    expect(await statuses({ b: '2', a: '1' })).toEqual([200, 200, 200, 200]);
    expect(await statuses({ a: '1', b: '3' })).toEqual([422, 422, 422, 422]);
    expect(await statuses(undefined)).toEqual([422, 422, 422, 422]);
  });

  test('is searched with metadata.<key>=, and several of these must all match', async () => {
    const one = await api.sent({ ...SMS, metadata: { shop: 'ouaga 2', step: '1' } });
    const two = await api.sent({ ...SMS, metadata: { shop: 'ouaga 2', step: '2', 'a.b[c]&d=%': '+ x', é: '🌍' } });
    expect(await search('metadata.shop=ouaga%202')).toEqual({ status: 200, ids: [two.smsID, one.smsID] });
    expect(await search('metadata.shop=ouaga+2&metadata.step=1')).toEqual({ status: 200, ids: [one.smsID] });
    expect(await search('metadata.shop=ouaga&metadata.step=1')).toEqual({ status: 200, ids: [] });
    const odd = new URLSearchParams({ 'metadata.é': '🌍', 'metadata.a.b[c]&d=%': '+ x', number: TO });
    expect(await search(String(odd))).toEqual({ status: 200, ids: [two.smsID] });
    expect(await search(String(new URLSearchParams({ 'metadata.a.b': 'x' })))).toEqual({ status: 200, ids: [] });
  });

  test.each([
    ['without a key', 'metadata=x', 'field_not_object'],
    ['given twice', 'metadata.a=1&metadata.a=2', 'field_not_string'],
    [
      'of 17 keys',
      Object.keys(keys(17))
        .map((key) => `metadata.${key}=`)
        .join('&'),
      'metadata_too_large',
    ],
    ['of 513 characters', `metadata.a=${'x'.repeat(512)}`, 'metadata_too_large'],
    ['for __proto__', 'metadata.__proto__=x', 'field_invalid'],
    ['with NUL', 'metadata.a=%00', 'field_invalid'],
  ])('is a 400 in a search %s', async (_name, query, word) => {
    const { status, headers } = await api.call(`sms?${query}`);
    expect([status, headers.get('x-error-code')]).toEqual([400, word]);
  });

  test('is an option of a host’s own sends and searches, which TypeScript cannot check completely', async () => {
    const sms = service.app.get(SmsService, { strict: false });
    const { smsID } = await sms.send(api.accountId, { ...SMS, metadata: { host: 'yes' } });
    const { items } = await sms.list(api.accountId, { metadata: { host: 'yes' } });
    expect(items.map((each) => [each.smsID, each.metadata])).toEqual([[smsID, { host: 'yes' }]]);
    for (const metadata of [7, [], new Map([['host', 'yes']])]) {
      const sent: Promise<unknown> = Reflect.apply(sms.send, sms, [api.accountId, { ...SMS, metadata }]);
      await expect(sent).rejects.toMatchObject({ code: 'error.field_not_object' });
      const listed: Promise<unknown> = Reflect.apply(sms.list, sms, [api.accountId, { metadata }]);
      await expect(listed).rejects.toMatchObject({ code: 'error.field_not_object' });
    }
  });
});
