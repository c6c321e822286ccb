import { createHash } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { sandboxMedia } from '../../../src/sandbox/sandbox-media.js';
import { EventReader } from '../../support/events/event-reader.js';
import { call } from '../../support/http/http-client.js';
import { describeServices, type Service } from '../../support/mounting/services.js';
import { MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const MOMENT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const TO = '22671000001';

describeServices('the messaging-app channel', (start) => {
  let service: Service;
  beforeAll(async () => {
    service = await startMsgapp(start);
  });

  test('goes from a connect to a linked number, step by step', async () => {
    const client = await msgappClient(service);
    expect((await client.status()).body).toEqual({ status: 'disconnected', sessions: [] });
    const { status, body } = await client.api.call('msgapp/web/connect', { method: 'POST' });
    const offer = await client.connect();
    expect([status, Object.keys(Object(body))]).toEqual([
      200,
      ['sessionID', 'qrToken', 'status', 'qr_url', 'expires_at'],
    ]);
    expect(offer).toEqual({
      sessionID: expect.any(String),
      qrToken: expect.stringMatching(/^[\w-]{32}$/),
      status: 'created',
      qr_url: `${service.url}/api/v1/msgapp/web/qr/${offer.qrToken}`,
      expires_at: MOMENT,
    });
    expect((await client.status(`?sessionID=${offer.sessionID}`)).body).toMatchObject({
      sessionID: offer.sessionID,
      status: 'created',
      number: null,
      sessions: [expect.objectContaining({ sessionID: offer.sessionID, connected_at: null }), expect.anything()],
    });

    const events = await EventReader.open(offer.qr_url);
    expect(events.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': expect.stringContaining('no-store'),
      'x-accel-buffering': 'no',
    });
    const { data: code } = await events.first('qr');
    expect(code).toEqual({
      qr: expect.stringMatching(/.{20,}/),
      image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
      expires_at: MOMENT,
    });
    const image = await fetch(`${offer.qr_url}/image`);
    expect([image.status, image.headers.get('content-type'), image.headers.get('cache-control')]).toEqual([
      200,
      'image/png',
      'no-store',
    ]);
    expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(
      String(code.image).slice('data:image/png;base64,'.length),
    );

    expect((await client.scan('22670000100', code.qr)).status).toBe(204);
    await events.end();
    expect(events.ended).toBe(true);
    const { sessionID } = offer;
    expect(events.events.filter(({ type }) => type === 'status').map(({ data }) => data)).toEqual([
      { sessionID, status: 'created' },
      { sessionID, status: 'connected', reason: 'linked', number: '22670000100' },
    ]);
    const session = { sessionID, status: 'connected', number: '22670000100' };
    const { body: shown } = await client.status();
    expect(shown).toEqual({
      ...session,
      sessions: [
        { ...session, created_at: MOMENT, connected_at: MOMENT, reason: 'linked' },
        expect.objectContaining({ status: 'created', number: null, connected_at: null }),
      ],
    });
  });

  test('sends a text, which is charged, arrives, and has its times', async () => {
    const client = await msgappClient(service, 10);
    await client.link('22670000200');
    const answer = await client.text({ to: TO, body: 'Bonjour 👋\nà demain', further: 'ignored' });
    const messageID = MsgappClient.idOf(answer);
    expect(answer.body).toEqual({ success: true, messageID });
    expect(await client.api.balance()).toBe(9);
    const message = await client.settled(messageID, 'delivered');
    expect(message).toEqual({
      messageID,
      from: '22670000200',
      to: TO,
      body: 'Bonjour 👋\nà demain',
      media: null,
      metadata: null,
      reply_to: null,
      send_at: null,
      valid_until: null,
      window: null,
      due_at: null,
      status: 'delivered',
      error: null,
      units: 1,
      refunded_units: 0,
      queued_at: MOMENT,
      sent_at: MOMENT,
      delivered_at: MOMENT,
      updated_at: MOMENT,
      read_at: null,
      failed_at: null,
    });
    expect((await client.phone(TO)).filter((shown) => shown.messageID === messageID)).toEqual([
      {
        messageID,
        channel: 'msgapp',
        from: '22670000200',
        to: TO,
        text: 'Bonjour 👋\nà demain',
        media: null,
        receivedAt: MOMENT,
      },
    ]);
  });

  test.each([
    ['photo.jpg', 'image', 'image/jpeg'],
    ['clip.mp4', 'video', 'video/mp4'],
    ['document.pdf', 'document', 'application/pdf'],
    ['voice.ogg', 'audio', expect.stringMatching(/^audio\/ogg/)],
  ])('sends %s as %s, byte for byte', async (name, type, mimetype) => {
    const client = await msgappClient(service, 10);
    await client.link('22670000300');
    const bytes = sandboxMedia(name)?.bytes ?? new Uint8Array();
    const file = {
      type,
      mimetype,
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      caption: 'Voilà',
    };
    const mediaUrl = `${service.url}/sandbox/media/${name}`;
    const id = MsgappClient.idOf(await client.media({ to: TO, mediaUrl, caption: 'Voilà' }));
    expect(await client.api.balance()).toBe(8);
    expect(await client.settled(id, 'delivered')).toMatchObject({
      body: null,
      units: 2,
      media: { ...file, fileName: name },
    });
    const [shown] = (await client.phone(TO)).filter(({ messageID }) => messageID === id);
    expect(shown).toMatchObject({ channel: 'msgapp', from: '22670000300', text: '', media: file });
  });

  test('shows a file as the kind that the sender chose', async () => {
    const client = await msgappClient(service, 10);
    await client.link('22670000301');
    const mediaUrl = `${service.url}/sandbox/media/photo.jpg`;
    const id = MsgappClient.idOf(await client.media({ to: TO, mediaUrl, mediaType: 'document', caption: null }));
    expect(await client.settled(id, 'delivered')).toMatchObject({ media: { type: 'document', caption: null } });
    const voice = { to: TO, mediaUrl: `${service.url}/sandbox/media/voice.ogg`, mediaType: 'voice' };
    const note = MsgappClient.idOf(await client.media(voice));
    expect(await client.settled(note, 'delivered')).toMatchObject({ media: { type: 'voice' }, units: 2 });
    const [shown] = (await client.phone(TO)).filter(({ messageID }) => messageID === note);
    expect(shown).toMatchObject({ media: { type: 'voice', mimetype: 'audio/ogg; codecs=opus' } });
    const refused = await client.media({ ...voice, mediaUrl });
    expect([refused.status, refused.body]).toMatchObject([400, { message: "Le média n'a pas pu être récupéré" }]);
    expect(await client.api.balance()).toBe(6);
  });

  test('sends from the number that was connected first, or from the requested one', async () => {
    const client = await msgappClient(service, 10);
    const first = await client.link('22670000400');
    await client.link('22670000401');
    const fromOf = async (body: object) => {
      const id = MsgappClient.idOf(await client.text({ to: TO, body: 'x', ...body }));
      return (await client.message(id)).from;
    };
    expect(await fromOf({})).toBe('22670000400');
    expect(await fromOf({ from: null })).toBe('22670000400');
    expect(await fromOf({ from: '22670000401' })).toBe('22670000401');
    expect((await client.status()).body).toMatchObject({ sessionID: first, number: '22670000400' });

    expect(await client.logout(first)).toMatchObject({ status: 200, body: { success: true } });
    expect(await fromOf({})).toBe('22670000401');
    expect(await client.text({ to: TO, body: 'x', from: '22670000400' })).toMatchObject({
      status: 409,
      body: { statusCode: 409, message: "Le numéro 22670000400 n'est pas connecté", error: 'Conflict' },
    });
  });

  test('logs a number out permanently', async () => {
    const client = await msgappClient(service, 10);
    const sessionID = await client.link('22670000500');
    expect(await client.logout(sessionID)).toMatchObject({ status: 200, body: { success: true } });
    expect(await client.sessions()).toEqual([
      expect.objectContaining({ sessionID, status: 'logged_out', number: '22670000500', reason: 'logout' }),
    ]);
    expect((await client.text({ to: TO, body: 'x' })).body).toMatchObject({ message: 'Aucun numéro connecté' });
    expect((await client.logout(sessionID)).status).toBe(200);
    expect(await client.api.balance()).toBe(10);
  });

  test('ends a session that nobody has scanned, at once if requested', async () => {
    const client = await msgappClient(service);
    const { sessionID, qr_url } = await client.connect();
    const events = await EventReader.open(qr_url);
    const { data } = await events.first('qr');
    await client.logout(sessionID);
    await events.end();
    expect(events.events.at(-1)).toEqual({
      type: 'status',
      data: { sessionID, status: 'logged_out', reason: 'logout' },
    });
    expect((await client.scan('22670000501', data.qr)).status).toBe(404);
  });

  test('treats every way to leave a value out the same', async () => {
    const client = await msgappClient(service);
    const ways = [
      {},
      { headers: { 'content-type': 'application/json' } },
      { headers: { 'content-type': 'application/json' }, body: '' },
      { headers: { 'content-type': 'text/plain' }, body: '' },
      { body: {} },
      { body: { further: 1 } },
    ];
    for (const way of ways) {
      const made = await client.api.call('msgapp/web/connect', { method: 'POST', ...way });
      expect([way, made.status]).toEqual([way, 200]);
      const { sessionID } = Object(made.body);
      const gone = await client.api.call(`msgapp/web/${sessionID}`, { method: 'DELETE', ...way });
      expect([way, gone.status, gone.body]).toEqual([way, 200, { success: true }]);
    }
    for (const body of ['[]', '"x"', 'null']) {
      const headers = { 'content-type': 'application/json' };
      expect((await client.api.call('msgapp/web/connect', { method: 'POST', headers, body })).status).toBe(400);
    }
  });

  test('keeps accounts apart', async () => {
    const [mine, theirs] = [await msgappClient(service, 10), await msgappClient(service, 10)];
    const sessionID = await mine.link('22670000600');
    const id = MsgappClient.idOf(await mine.text({ to: TO, body: 'x' }));
    expect(await theirs.status()).toMatchObject({ body: { status: 'disconnected' } });
    for (const reply of [await theirs.status(`?sessionID=${sessionID}`), await theirs.logout(sessionID)]) {
      expect(reply).toMatchObject({
        status: 404,
        body: { statusCode: 404, message: 'Session introuvable', error: 'Not Found' },
      });
    }
    expect(await theirs.api.call(`msgapp/messages/${id}`)).toMatchObject({
      status: 404,
      body: { statusCode: 404, message: 'Message introuvable', error: 'Not Found' },
    });
    expect((await theirs.text({ to: TO, body: 'x', from: '22670000600' })).status).toBe(409);
    expect((await mine.status()).body).toMatchObject({ status: 'connected' });
  });

  test('does not show the messages of other channels', async () => {
    const client = await msgappClient(service, 10);
    const { smsID } = await client.api.sent({ signature: 'INFOS', content: 'x', number: [TO] });
    expect((await client.api.call(`msgapp/messages/${smsID}`)).status).toBe(404);
    await client.link('22670000601');
    const id = MsgappClient.idOf(await client.text({ to: TO, body: 'x' }));
    expect((await client.api.call(`sms/${id}`)).status).toBe(404);
    expect((await client.api.list()).items.map((item) => item.smsID)).toEqual([smsID]);
  });

  test('carries one-time passcodes by its name', async () => {
    const client = await msgappClient(service, 10);
    const order = { service: 'Boutique', number: '22671000777', channel: 'msgapp' };
    const early = await client.api.post('send/otp', order);
    expect([early.status, early.body]).toEqual([
      409,
      { statusCode: 409, message: 'Aucun numéro connecté', error: 'Conflict' },
    ]);
    await client.link('22670000700');
    const sent = await client.api.post('send/otp', order);
    expect(sent).toMatchObject({ status: 200, body: { success: true, channel: 'msgapp', number: order.number } });
    expect(await client.api.balance()).toBe(9);
    const { text } = await client.arrived(order.number, 1);
    const otp = /^\d{4}/.exec(String(text))?.[0] ?? '';
    const { channel: _, ...binding } = order;
    expect(await client.api.post('verify/otp', { ...binding, otp })).toMatchObject({
      status: 200,
      body: { success: true, message: 'Code de vérification vérifié avec succès' },
    });
    // The text of a code's message can be read by nobody afterwards.
    const [{ messageID } = { messageID: '' }] = await client.phone(order.number);
    expect((await client.api.call(`msgapp/messages/${messageID}`)).status).toBe(404);
    expect((await client.api.post('send/otp', { ...order, channel: 'telegraph' })).body).toMatchObject({
      message: 'Canal inconnu : telegraph',
    });
  });

  test('requires a key on every route except those where the token of a code is one', async () => {
    const client = await msgappClient(service);
    const { sessionID, qr_url } = await client.connect();
    const url = `${service.url}/api/v1/msgapp`;
    for (const [method, path] of [
      ['POST', 'web/connect'],
      ['GET', 'web/status'],
      ['DELETE', `web/${sessionID}`],
      ['POST', 'send/text'],
      ['POST', 'send/media'],
      ['GET', 'messages/x'],
    ]) {
      const { status, body } = await call(`${url}/${path}`, { method: method ?? '' });
      expect([method, path, status, body]).toEqual([
        method,
        path,
        401,
        { statusCode: 401, message: 'Clé API manquante ou invalide', error: 'Unauthorized' },
      ]);
    }
    for (const headers of [{}, { 'x-api-key': 'nonsense' }, { authorization: 'Bearer nonsense' }]) {
      expect((await call(`${qr_url}/image`, { headers })).status).toBe(200);
      const events = await EventReader.open(qr_url, headers);
      expect(events.status).toBe(200);
      await events.first('qr');
      events.leave();
    }
  });
});
