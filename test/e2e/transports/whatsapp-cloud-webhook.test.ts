import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { WhatsappCloudMsgappTransport } from 'nestjs-messaging/whatsapp-cloud';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { DAY_MS } from '../../../src/common/time.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { MsgappService } from '../../../src/msgapp/msgapp-service.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { messageTag } from '../../../src/transports/whatsapp-cloud/message-tag.js';
import { until } from '../../support/common/until.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { describeService, describeServices, type Service } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { CLOUD_APP, CLOUD_GIVEN, type GraphCall, GraphDouble } from '../../support/transports/cloud/graph-double.js';
import { callByMeta, metaBody, metaSignature, metaStatus } from '../../support/transports/cloud/meta-webhook.js';

const TO = '22670000002';
const OLD_SECRET = 'the-secret-before-it-was-replaced';

describeServices("Meta's calls", (start) => {
  let graph: GraphDouble;
  let service: Service;
  let client: MsgappClient;
  let path: string;
  let texts = 0;

  beforeAll(async () => {
    graph = await GraphDouble.open();
    const appSecret = [CLOUD_APP.appSecret, OLD_SECRET];
    const transport = WhatsappCloudMsgappTransport.forRoot({ ...CLOUD_APP, appSecret, baseUrl: graph.baseUrl });
    service = await startMsgapp(start, { msgapp: { ...MSGAPP, transport } });
    path = `${service.url}/api/v1/msgapp/callbacks/cloud`;
  });
  beforeEach(async () => {
    graph.calls.length = 0;
    graph.beforeAnswer = async () => undefined;
    client = await linkedClient(service);
  });
  afterAll(() => graph.close());

  const call = (value: object, how = {}) => callByMeta(service.url, value, how);
  const report = (sent: GraphCall, status: string, over = {}) =>
    call({ statuses: [metaStatus(graph, sent, status, over)] });

  /** Sends a text. Returns its id, and the message as Meta got it. */
  async function send(status = 'sent') {
    const id = MsgappClient.idOf(await client.text({ to: TO, body: 'Bonjour' }));
    await client.settled(id, status);
    const sent = graph.messages.at(-1);
    if (!sent) throw new Error('Meta got no message.');
    return { id, sent };
  }

  const written = (fields: object) => ({
    contacts: [{ wa_id: TO, profile: { name: 'Awa' } }],
    messages: [{ id: `wamid.in.${++texts}`, from: TO, timestamp: '1795000000', type: 'text', ...fields }],
  });

  describe('the check of the URL', () => {
    const check = (token: string) =>
      fetch(`${path}?hub.mode=subscribe&hub.verify_token=${token}&hub.challenge=1158201444`);

    test('is answered with the challenge, for our token', async () => {
      const answer = await check(CLOUD_APP.verifyToken);
      expect([answer.status, await answer.text()]).toEqual([200, '1158201444']);
    });

    test('is refused with another token', async () => {
      expect((await check('another-token-of-16')).status).toBe(403);
      expect((await fetch(path)).status).toBe(403);
    });
  });

  describe('the proof', () => {
    const text = `${JSON.stringify(metaBody({ statuses: [] }), null, 2)}\n`;
    const post = (body: string, signature: string) =>
      fetch(path, { method: 'POST', body, headers: { 'x-hub-signature-256': signature } });

    test('is over the bytes as they came, under the new or the old secret', async () => {
      expect((await post(text, metaSignature(text))).status).toBe(200);
      expect((await post(text, metaSignature(text, OLD_SECRET))).status).toBe(200);
      expect((await post(text, metaSignature(text, 'another-secret-of-16'))).status).toBe(403);
      expect((await post(text.trim(), metaSignature(text))).status).toBe(403);
      expect((await fetch(path, { method: 'POST', body: text })).status).toBe(403);
    });

    test('does not make JSON of what is none', async () => {
      expect((await post('{', metaSignature('{'))).status).toBe(400);
      expect((await post('[1]', metaSignature('[1]'))).status).toBe(200);
    });
  });

  describe('statuses', () => {
    test('move a message forward, also if they are repeated and out of order', async () => {
      const { id, sent } = await send();
      for (const status of ['delivered', 'delivered', 'sent']) expect(await report(sent, status)).toBe(200);
      expect(await client.message(id)).toMatchObject({ status: 'delivered', error: null });
      for (const status of ['read', 'delivered', 'failed']) await report(sent, status);
      expect(await client.message(id)).toMatchObject({ status: 'read', refunded_units: 0 });
    });

    test('refund a message that Meta could not deliver', async () => {
      const { id, sent } = await send();
      await report(sent, 'failed', { errors: [{ code: 131047, title: 'Re-engagement message' }] });
      expect(await client.message(id)).toMatchObject({ status: 'failed', error: 'cloud_131047', refunded_units: 1 });
      expect(await client.api.balance()).toBe(1000);
    });

    test('may come before the answer to the send', async () => {
      graph.beforeAnswer = async (sent) => {
        expect(await report(sent, 'delivered')).toBe(200);
      };
      const { id } = await send('delivered');
      expect(await client.message(id)).toMatchObject({ status: 'delivered', refunded_units: 0 });
    });

    test('settle a message whose send got no answer', async () => {
      graph.next.push('cut');
      const { id, sent } = await send('unknown');
      await report(sent, 'delivered');
      expect((await client.message(id)).status).toBe('delivered');
    });

    test('find a message by its id at Meta if Meta does not repeat our text', async () => {
      const { id, sent } = await send();
      await report(sent, 'delivered', { biz_opaque_callback_data: undefined });
      expect((await client.message(id)).status).toBe('delivered');
    });

    test('of another number, or of messages that we did not send, change nothing', async () => {
      const { id, sent } = await send();
      const { biz_opaque_callback_data: tag } = metaStatus(graph, sent, 'failed') as Record<string, unknown>;
      const failed = { id: 'wamid.other', status: 'failed', biz_opaque_callback_data: tag };
      expect(await call({ statuses: [failed] }, { phoneNumberId: '1' })).toBe(200);
      const forged = `${id}.${'A'.repeat(22)}`;
      expect(await call({ statuses: [{ ...failed, biz_opaque_callback_data: forged }] })).toBe(200);
      expect(await call({ statuses: [{ ...failed, biz_opaque_callback_data: 'order 4711' }] })).toBe(200);
      expect(await client.message(id)).toMatchObject({ status: 'sent', refunded_units: 0 });
    });

    test('wait at Meta while the database is away, and none is lost', async () => {
      const { id, sent } = await send();
      const away = jest
        .spyOn(service.app.get(OutboxStore, { strict: false }), 'settle')
        .mockRejectedValue(new StorageUnavailableError('no connection'));
      expect(await report(sent, 'delivered')).toBe(503);
      away.mockRestore();
      expect(await report(sent, 'delivered')).toBe(200);
      expect((await client.message(id)).status).toBe('delivered');
    });
  });

  describe('messages', () => {
    test('of a person are one event, however often Meta repeats the call', async () => {
      const received: unknown[] = [];
      const stop = service.app
        .get(MessagingEvents, { strict: false })
        .on('msgapp.received', ({ data }) => void received.push(data));
      const value = written({ text: { body: 'Où est mon colis ?' } });
      for (let turn = 0; turn < 3; turn++) expect(await call(value)).toBe(200);
      expect(received).toHaveLength(1);
      expect(received).toMatchObject([{ from: TO, kind: 'text', text: 'Où est mon colis ?' }]);
      expect(await call(written({ text: { body: 'Merci' } }), { phoneNumberId: '1' })).toBe(200);
      expect(received).toHaveLength(1);
      stop();
    });

    test('have files, which come from Meta with the token of the number, and are gone when Meta has deleted them', async () => {
      const ids: string[] = [];
      const stop = service.app
        .get(MessagingEvents, { strict: false })
        .on('msgapp.received', ({ data }) => void ids.push(data.id));
      const bytes = Buffer.from('Le devis, page par page.\n'.repeat(5000));
      graph.received.set('77', new Uint8Array(bytes));
      await call(written({ type: 'document', document: { id: '77', mime_type: 'text/plain', filename: 'devis.txt' } }));
      stop();
      const fetched = async () => {
        const headers = { 'x-api-key': client.api.key };
        const answer = await fetch(`${client.api.url}/msgapp/received/${ids[0]}/media`, { headers });
        return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) };
      };
      const first = await fetched();
      expect([first.status, first.bytes.equals(bytes)]).toEqual([200, true]);
      graph.next.push({ status: 200, body: { url: 'https://files.example.com/77' } });
      expect((await fetched()).status).toBe(503);
      graph.received.clear();
      expect((await fetched()).status).toBe(410);
    });

    test('are quoted by the answer that names them', async () => {
      const ids: string[] = [];
      const stop = service.app
        .get(MessagingEvents, { strict: false })
        .on('msgapp.received', ({ data }) => void ids.push(data.id));
      const value = written({ text: { body: 'Où est mon colis ?' } });
      await call(value);
      stop();
      const answer = await client.text({ reply_to: ids[0], body: 'En route' });
      await client.settled(MsgappClient.idOf(answer), 'sent');
      expect(graph.messages.at(-1)?.json).toMatchObject({ to: TO, context: { message_id: value.messages[0]?.id } });
    });

    test('of a person without a number can be answered', async () => {
      const contacts: (string | null)[] = [];
      const stop = service.app
        .get(MessagingEvents, { strict: false })
        .on('msgapp.received', ({ data }) => void contacts.push(data.contact));
      const userId = 'BR.1502576394655843';
      await call(written({ from: undefined, from_user_id: userId, text: { body: 'Olá' } }));
      stop();
      await client.settled(MsgappClient.idOf(await client.text({ to: contacts[0], body: 'Bonjour' })), 'sent');
      expect(graph.messages.at(-1)?.json).toMatchObject({ recipient: userId });
      expect(graph.messages.at(-1)?.json).not.toHaveProperty('to');
    });
  });
});

describeService('a call of Meta', (start) => {
  test('with 1 000 statuses is stored in two transactions', async () => {
    const graph = await GraphDouble.open();
    const transport = WhatsappCloudMsgappTransport.forRoot({ ...CLOUD_APP, baseUrl: graph.baseUrl });
    const service = await startMsgapp(start, { msgapp: { ...MSGAPP, transport } });
    const client = await linkedClient(service);
    const messages = service.app.get(MsgappService, { strict: false });
    const send_at = new Date(Date.now() + DAY_MS).toISOString();
    const sends = Array.from({ length: 1000 }, () =>
      messages.sendText(client.api.accountId, { to: TO, body: 'Bonjour', send_at }),
    );
    const ids = (await Promise.all(sends)).map(({ messageID }) => messageID);
    const settle = jest.spyOn(service.app.get(OutboxStore, { strict: false }), 'settle');
    const statuses = ids.map((id) => ({
      id: `wamid.${id}`,
      status: 'delivered',
      biz_opaque_callback_data: messageTag(id, CLOUD_GIVEN.phone_number_id, CLOUD_APP.appSecret),
    }));
    expect(await callByMeta(service.url, { statuses })).toBe(200);
    expect(settle.mock.calls.map(([updates]) => updates.length)).toEqual([500, 500]);
    expect(await client.message(ids.at(-1) ?? '')).toMatchObject({ status: 'delivered' });
    await graph.close();
  });

  test('that two processes get is one event', async () => {
    const file = new SqliteFile();
    const graph = await GraphDouble.open();
    const transport = WhatsappCloudMsgappTransport.forRoot({ ...CLOUD_APP, baseUrl: graph.baseUrl });
    const both = [file.storage(), file.storage()];
    const [one, other] = await Promise.all(
      both.map((storage) => startMsgapp(start, { storage, msgapp: { ...MSGAPP, transport } })),
    );
    if (!one || !other) throw new Error('Both processes run.');
    await linkedClient(one);
    const texts: unknown[] = [];
    for (const { app } of [one, other]) {
      app.get(MessagingEvents, { strict: false }).on('msgapp.received', ({ data }) => void texts.push(data.text));
    }
    const message = { id: 'wamid.in', from: TO, timestamp: '1795000000', type: 'text', text: { body: 'Allô' } };
    const answers = await Promise.all([one, other].map(({ url }) => callByMeta(url, { messages: [message] })));
    expect(answers).toEqual([200, 200]);
    expect(texts).toEqual(['Allô']);
    await Promise.all([one.close(), other.close(), graph.close()]);
    await file.close();
  });
});

async function linkedClient(service: Service): Promise<MsgappClient> {
  const client = await msgappClient(service);
  await client.api.post('msgapp/web/connect', CLOUD_GIVEN);
  await until(
    () => client.sessions(),
    ([session]) => session?.status === 'connected',
  );
  return client;
}
