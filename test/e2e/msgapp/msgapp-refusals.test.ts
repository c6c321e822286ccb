import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { describeServices, type Service, startService } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const TO = '22671000001';
const BAD = 'Bad Request';
const UNAVAILABLE = { statusCode: 400, message: "Le média n'a pas pu être récupéré", error: BAD };

describeServices('a messaging-app channel refuses', (start) => {
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;
  beforeAll(async () => {
    files = await FileServer.open();
    service = await startMsgapp(start);
    client = await msgappClient(service, 10);
    await client.link('22670000100');
  });
  afterAll(async () => {
    await files.close();
  });

  const untouched = async () => expect(await client.api.balance()).toBe(10);
  const photo = () => ({ to: TO, mediaUrl: files.url('/photo.png') });

  test.each<[string, object, number, string]>([
    ['no recipient', { to: undefined }, 400, 'Le champ to est obligatoire'],
    ['a recipient that is null', { to: null }, 400, 'Le champ to est obligatoire'],
    ['a recipient as a JSON number', { to: 22671000001 }, 400, 'Le champ to doit être une chaîne de caractères'],
    [
      'a recipient that is not a number',
      { to: '+22671000001' },
      400,
      'Numéro invalide : +22671000001. Vouliez-vous dire 22671000001 ?',
    ],
    ['a sender that is not a number', { from: '0022671' }, 400, 'Numéro invalide : 0022671'],
    ['a sender as a JSON number', { from: 1 }, 400, 'Le champ from doit être une chaîne de caractères'],
    ['a sender that is not connected', { from: '22670000999' }, 409, "Le numéro 22670000999 n'est pas connecté"],
  ])('%s', async (_, wrong, status, message) => {
    const error = status === 400 ? BAD : 'Conflict';
    const expected = [status, { statusCode: status, message, error }];
    const text = await client.text({ to: TO, body: 'x', ...wrong });
    const media = await client.media({ ...photo(), ...wrong });
    expect([text.status, text.body]).toEqual(expected);
    expect([media.status, media.body]).toEqual(expected);
    await untouched();
  });

  test.each<[string, unknown]>([
    ['missing', undefined],
    ['null', null],
    ['empty', ''],
    ['white space', ' \n\t\u00a0'],
  ])('a text that is %s', async (_, body) => {
    const { status, body: answer } = await client.text({ to: TO, body });
    expect([status, answer]).toEqual([
      400,
      { statusCode: 400, message: 'Le message ne doit pas être vide', error: BAD },
    ]);
    await untouched();
  });

  test('a text of more characters than any app shows', async () => {
    const { status, body } = await client.text({ to: TO, body: 'x'.repeat(65_537) });
    expect([status, body]).toEqual([400, { statusCode: 400, message: 'Le champ body est invalide', error: BAD }]);
    await untouched();
  });

  test.each<[string, object, string]>([
    ['no URL', { mediaUrl: undefined }, 'Le champ mediaUrl est obligatoire'],
    ['a URL of another type', { mediaUrl: ['x'] }, 'Le champ mediaUrl doit être une chaîne de caractères'],
    ['an unknown mediaType', { mediaType: 'sticker' }, 'Le champ mediaType est invalide'],
    ['a mediaType in capitals', { mediaType: 'IMAGE' }, 'Le champ mediaType est invalide'],
    ['a mediaType of another type', { mediaType: 1 }, 'Le champ mediaType doit être une chaîne de caractères'],
    ['a caption that is too long', { caption: 'x'.repeat(65_537) }, 'Le champ caption est invalide'],
    ['a caption of another type', { caption: {} }, 'Le champ caption doit être une chaîne de caractères'],
  ])('media with %s', async (_, wrong, message) => {
    const asked = files.asked.get('/photo.png');
    const { status, body } = await client.media({ ...photo(), ...wrong });
    expect([status, body]).toEqual([400, { statusCode: 400, message, error: BAD }]);
    expect(files.asked.get('/photo.png')).toBe(asked);
    await untouched();
  });

  test.each<[string, (files: FileServer) => string]>([
    ['is nowhere', () => 'http://127.0.0.1:1/photo.png'],
    ['is not found', (files) => files.url('/none.png')],
    ['is inside the network', () => 'http://10.0.0.1/photo.png'],
    ['is the metadata service', () => 'http://169.254.169.254/latest/meta-data'],
    ['is not http', () => 'file:///etc/passwd'],
    ['is not a URL', () => 'photo.png'],
    ['is empty', () => ''],
    ['names credentials', (files) => files.url('/photo.png').replace('http://', 'http://user:secret@')],
    ['is larger than 50 MB', (files) => files.put('/large', 'image/png', Buffer.alloc(52_428_801)).url('/large')],
  ])('a file that %s, always with one answer', async (_, url) => {
    const { status, body } = await client.media({ to: TO, mediaUrl: url(files) });
    expect([status, body]).toEqual([400, UNAVAILABLE]);
    await untouched();
  });

  test('a message for which the account cannot pay', async () => {
    const poor = await msgappClient(service, 1);
    await poor.link('22670000101');
    const expected = { statusCode: 400, message: 'Solde SMS insuffisant', error: BAD };
    const asked = files.asked.get('/photo.png');
    expect(await poor.media(photo())).toMatchObject({ status: 400, body: expected });
    expect(files.asked.get('/photo.png')).toBe(asked);
    expect(await poor.text({ to: TO, body: 'x' })).toMatchObject({ status: 200 });
    expect(await poor.text({ to: TO, body: 'x' })).toMatchObject({ status: 400, body: expected });
    expect(await poor.api.balance()).toBe(0);
  });

  test('a send without any number, whatever its content is', async () => {
    const nobody = await msgappClient(service, 10);
    await nobody.connect();
    const asked = files.asked.get('/photo.png');
    const expected = { status: 409, body: { statusCode: 409, message: 'Aucun numéro connecté', error: 'Conflict' } };
    expect(await nobody.text({ to: TO, body: 'x' })).toMatchObject(expected);
    expect(await nobody.media(photo())).toMatchObject(expected);
    expect(files.asked.get('/photo.png')).toBe(asked);
    expect(await nobody.api.balance()).toBe(10);
  });

  test('one session too many, whichever process is asked, while another account goes on', async () => {
    const eager = await msgappClient(service);
    const asked = await Promise.all(
      Array.from({ length: 30 }, () => eager.api.call('msgapp/web/connect', { method: 'POST' })),
    );
    const refusals = asked.filter(({ status }) => status !== 200);
    expect(refusals).toHaveLength(20);
    for (const { status, body, headers } of refusals) {
      const message = 'Trop de sessions demandées, réessayez plus tard';
      expect([status, body]).toEqual([429, { statusCode: 429, message, error: 'Too Many Requests' }]);
      const seconds = Number(headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(180);
    }
    expect((await eager.sessions()).map(({ status }) => status)).toEqual(Array(10).fill('created'));
    await (await msgappClient(service)).connect();
    // A session that is given up makes room for another one.
    const [one] = await eager.sessions();
    await eager.logout(one?.sessionID ?? '');
    await eager.connect();
  });

  test('what it does not know', async () => {
    const session = { statusCode: 404, message: 'Session introuvable', error: 'Not Found' };
    expect(await client.status('?sessionID=unknown')).toMatchObject({ status: 404, body: session });
    expect(await client.status('?sessionID=')).toMatchObject({ status: 404, body: session });
    expect(await client.logout('unknown')).toMatchObject({ status: 404, body: session });
    expect(await client.status('?sessionID=a&sessionID=b')).toMatchObject({ status: 400 });
    for (const id of ['unknown', '00000000-0000-7000-8000-000000000000', 'a%20b', '%27%20OR%201']) {
      expect(await client.api.call(`msgapp/messages/${id}`)).toMatchObject({
        status: 404,
        body: { statusCode: 404, message: 'Message introuvable', error: 'Not Found' },
      });
    }
  });
});

describeOnOneAdapter('the guard of files', (adapter) => {
  test('lets a channel fetch from nowhere internal unless the host says so', async () => {
    const files = await FileServer.open();
    const service = await startMsgapp((options, setup) => startService(adapter, options, setup), { media: {} });
    const client = await msgappClient(service, 10);
    await client.link('22670000100');
    expect(await client.media({ to: TO, mediaUrl: files.url('/photo.png') })).toMatchObject({
      status: 400,
      body: UNAVAILABLE,
    });
    expect(files.asked.size).toBe(0);
    await service.close();

    const open = await startMsgapp((options, setup) => startService(adapter, options, setup), {
      media: { allow: [new URL(files.url('/')).origin] },
    });
    const allowed = await msgappClient(open, 10);
    await allowed.link('22670000100');
    MsgappClient.idOf(await allowed.media({ to: TO, mediaUrl: files.url('/photo.png') }));
    await open.close();
    await files.close();
  });

  test('ends a request whose file does not come, charges nothing, and closes the connection to the file', async () => {
    const files = await FileServer.open();
    files.put('/never', 'image/png', Buffer.alloc(0));
    const clock = new FakeClock();
    const service = await startMsgapp((options, setup) => startService(adapter, options, setup), {
      clock: { useValue: clock },
      msgapp: { ...MSGAPP, sessions: { leaseMs: 600_000 } },
      limits: { requestMs: 3_000 },
    });
    const client = await msgappClient(service, 10);
    await client.link('22670000100');
    const late = client.media({ to: TO, mediaUrl: files.url('/never') });
    await eventually(() => files.asked.get('/never') === 1);
    clock.advance(3_000);
    expect(await late).toMatchObject({
      status: 504,
      body: { statusCode: 504, message: 'Délai de traitement dépassé', error: 'Gateway Timeout' },
    });
    await eventually(() => files.connections === 0);
    expect(await client.api.balance()).toBe(10);
    await service.close();
    await files.close();
  });

  test('stops fetching when the caller hangs up', async () => {
    const files = await FileServer.open();
    files.put('/never', 'image/png', Buffer.alloc(0));
    const service = await startMsgapp((options, setup) => startService(adapter, options, setup));
    const client = await msgappClient(service, 10);
    await client.link('22670000100');
    const gone = new AbortController();
    const asked = fetch(`${client.api.url}/msgapp/send/media`, {
      method: 'POST',
      headers: { 'x-api-key': client.api.key, 'content-type': 'application/json' },
      body: JSON.stringify({ to: TO, mediaUrl: files.url('/never') }),
      signal: gone.signal,
    });
    await eventually(() => files.asked.get('/never') === 1);
    gone.abort();
    await expect(asked).rejects.toThrow();
    await eventually(() => files.connections === 0);
    await service.close();
    await files.close();
  });
});

describeOnOneAdapter('the texts', (adapter) => {
  test('are English if the host chooses English', async () => {
    const service = await startMsgapp((options, setup) => startService(adapter, options, setup), { locale: 'en' });
    const client = await msgappClient(service, 10);
    const messageOf = async (reply: Promise<{ body: unknown }>) => Object((await reply).body).message;
    expect(await messageOf(client.text({ to: TO, body: 'x' }))).toBe('No number is connected');
    await client.link('22670000100');
    expect(await messageOf(client.text({ to: TO, body: ' ' }))).toBe('The message must not be empty');
    expect(await messageOf(client.text({ to: TO, body: 'x', from: '22670000101' }))).toBe(
      'The number 22670000101 is not connected',
    );
    expect(await messageOf(client.media({ to: TO, mediaUrl: 'x' }))).toBe('The media could not be fetched');
    expect(await messageOf(client.status('?sessionID=x'))).toBe('Session not found');
    await service.close();
  });
});
