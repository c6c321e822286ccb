import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { OtpService } from '../../../src/otp/otp-service.js';
import type { Send } from '../../../src/outbox/accept/send.js';
import { Outbox } from '../../../src/outbox/outbox.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeService, type Service } from '../../support/mounting/services.js';
import { type MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const TO = '22670000001';
const SMS = { signature: 'INFOS', content: 'Bonjour', number: [TO] };
const KEY = { 'idempotency-key': 'one' };
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(22_670_000_000 + index));
const refusal = (message: string) => ({ statusCode: 400, message, error: 'Bad Request' });
const INVALID = refusal('Le champ priority est invalide');
const NOT_STRING = refusal('Le champ priority doit être une chaîne de caractères');

describeService('the priority of a send', (start) => {
  let service: Service;
  let files: FileServer;
  let client: MsgappClient;
  /** The deliveries that were accepted since the last test. */
  const accepted: Send[] = [];

  beforeAll(async () => {
    files = await FileServer.open();
    service = await startMsgapp(start);
    client = await msgappClient(service, 10_000);
    await client.link('22670000100');
    const outbox = service.app.get(Outbox, { strict: false });
    const accept = outbox.accept.bind(outbox);
    jest.spyOn(outbox, 'accept').mockImplementation((send, options) => {
      accepted.push(send);
      return accept(send, options);
    });
  });
  beforeEach(() => void accepted.splice(0));
  afterAll(() => files.close());

  const photo = () => ({ to: TO, mediaUrl: files.url('/photo.png') });
  const priorities = () => accepted.map(({ priority }) => priority);

  test('is the one that the caller names: high, normal or bulk', async () => {
    for (const priority of ['high', 'normal', 'bulk']) {
      expect(await client.api.send({ ...SMS, priority })).toMatchObject({ status: 200 });
      expect(await client.text({ to: TO, body: 'x', priority })).toMatchObject({ status: 200 });
      expect(await client.media({ ...photo(), priority })).toMatchObject({ status: 200 });
    }
    expect(priorities()).toEqual(['high', 'normal', 'bulk'].flatMap((priority) => Array(3).fill(priority)));
  });

  test('is normal by default and for null, and bulk above 1000 recipients', async () => {
    for (const priority of [undefined, null]) {
      await client.api.sent({ ...SMS, priority });
      await client.text({ to: TO, body: 'x', priority });
      await client.media({ ...photo(), priority });
    }
    expect(priorities()).toEqual(Array(6).fill('normal'));
    accepted.splice(0);
    await client.api.sent({ ...SMS, number: numbers(1000) });
    await client.api.sent({ ...SMS, number: [...numbers(1000), ...numbers(1000)] });
    await client.api.sent({ ...SMS, number: numbers(1001) });
    await client.api.sent({ ...SMS, number: numbers(1001), priority: null });
    await client.api.sent({ ...SMS, number: numbers(1001), priority: 'high' });
    await client.api.sent({ ...SMS, number: numbers(1001), priority: 'normal' });
    expect(priorities()).toEqual(['normal', 'normal', 'bulk', 'bulk', 'high', 'normal']);
  });

  test('is code for a code on every channel, and for nothing else', async () => {
    for (const channel of ['sms', 'msgapp']) {
      const body = { service: channel, number: TO, channel, priority: 'bulk' };
      expect(await client.api.post('send/otp', body)).toMatchObject({ status: 200 });
    }
    const otp = service.app.get(OtpService, { strict: false });
    await otp.send(client.api.accountId, { service: 'host', number: TO });
    expect(priorities()).toEqual(['code', 'code', 'code']);
    expect(await client.api.send({ ...SMS, priority: 'code' })).toMatchObject({ status: 400, body: INVALID });
  });

  test.each<[unknown, object]>([
    ['code', INVALID],
    ['urgent', INVALID],
    ['HIGH', INVALID],
    ['', INVALID],
    ['high ', INVALID],
    ['__proto__', INVALID],
    [1, NOT_STRING],
    [true, NOT_STRING],
    [['high'], NOT_STRING],
    [{ high: true }, NOT_STRING],
  ])('cannot be %p: 400, and nothing is charged', async (priority, expected) => {
    const before = await client.api.balance();
    const asked = files.asked.get('/photo.png');
    const replies = [
      await client.api.send({ ...SMS, priority }),
      await client.text({ to: TO, body: 'x', priority }),
      await client.media({ ...photo(), priority }),
    ];
    expect(replies.map(({ status, body }) => ({ status, body }))).toEqual(
      Array(3).fill({ status: 400, body: expected }),
    );
    expect([await client.api.balance(), accepted, files.asked.get('/photo.png')]).toEqual([before, [], asked]);
  });

  test('belongs to the shape of the body, and is checked after the numbers and before the text', async () => {
    const worst = { signature: 'NOBODY', content: ' ', number: ['+226'], priority: 'urgent' };
    expect((await client.api.send(worst)).body).toEqual(refusal('Numéro invalide : +226'));
    expect((await client.api.send({ ...worst, number: [TO] })).body).toEqual(INVALID);
    expect((await client.text({ to: TO, body: ' ', from: '22670000999', priority: 'urgent' })).body).toEqual(INVALID);
  });

  test('is part of the body of an Idempotency-Key', async () => {
    expect(await client.api.send({ ...SMS, priority: 'high' }, KEY)).toMatchObject({ status: 200 });
    expect(await client.api.send({ ...SMS, priority: 'high' }, KEY)).toMatchObject({ status: 200 });
    expect(await client.api.send({ ...SMS, priority: 'bulk' }, KEY)).toMatchObject({ status: 422 });
    expect(await client.api.send(SMS, KEY)).toMatchObject({ status: 422 });
    expect(await client.text({ to: TO, body: 'x', priority: 'high' }, KEY)).toMatchObject({ status: 200 });
    expect(await client.text({ to: TO, body: 'x' }, KEY)).toMatchObject({ status: 422 });
    expect(priorities()).toEqual(['high', 'high']);
  });

  test('is an option of a host’s own sends, which TypeScript cannot check completely', async () => {
    const sms = service.app.get(SmsService, { strict: false });
    await sms.send(client.api.accountId, { ...SMS, priority: 'high' });
    expect(priorities()).toEqual(['high']);
    for (const priority of ['code', 7, {}, Symbol('high'), new String('high')]) {
      const sent: Promise<unknown> = Reflect.apply(sms.send, sms, [client.api.accountId, { ...SMS, priority }]);
      await expect(sent).rejects.toMatchObject({ code: 'error.field_invalid', values: { field: 'priority' } });
    }
  });
});
