import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MINUTE_MS } from '../../../../src/common/time.js';
import { parseJson, valueAt } from '../../../../src/transports/http/json-values.js';
import { smsgate } from '../../../../src/transports/http/vendors/smsgate.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import {
  anSms,
  CALLBACK_SECRET,
  type FixtureOptions,
  GatewayFixture,
} from '../../../support/transports/gateway/gateway-fixture.js';
import {
  HTTPSMS_SIGNING_KEY,
  httpsmsClaims,
  httpsmsDouble,
  httpsmsEvent,
  httpsmsToken,
} from '../../../support/transports/gateway/httpsms-double.js';
import { smsgateDouble, smsgateEvent } from '../../../support/transports/gateway/smsgate-double.js';
import { textbeeDouble, textbeeEvent } from '../../../support/transports/gateway/textbee-double.js';
import { json } from '../../../support/transports/gateway/vendor-double.js';

const opened = closeAfterEach();
const BASE = 'https://sms.example.org/callbacks';
const SMS_ID = '0199f0a1-5a4c-7e0e-8d1c-0a1b2c3d4e5f';
/** 22 characters for the 16 octets of that id. */
const COMPACT = 'AZnwoVpMfg6NHAobLD1OXw';

beforeAll(() => Logger.overrideLogger(false));

const body = (fixture: GatewayFixture, field: string) => valueAt(parseJson(fixture.server.requests[0]?.body), field);

describe('SMSGate', () => {
  const url = `${BASE}/smsgate`;
  const open = async (over: FixtureOptions = {}) =>
    opened(await GatewayFixture.open(smsgateDouble, { callbackUrl: url, ...over }));
  /** SMSGate with one phone, so that a repeat is harmless. */
  const withOnePhone = () => {
    const login = { username: 'phone', password: 'smsgate-fixture-password', deviceId: 'phone-1' };
    return { ...smsgateDouble, vendor: (baseUrl: string) => smsgate({ ...login, baseUrl }) };
  };
  const event = (fixture: GatewayFixture, name: string, payload: Record<string, unknown>) =>
    fixture.call(smsgateEvent(name, { recipient: '+22670000001', ...payload }, fixture.clock.now()), url);

  test('a phone that is named, and a phone in local mode, may get a request twice; a pool of phones may not', () => {
    const login = { username: 'u', password: 'p' };
    expect(smsgate(login).idempotent).toBe(false);
    expect(smsgate({ ...login, deviceId: 'd1' }).idempotent).toBe(true);
    expect(smsgate({ ...login, local: true, baseUrl: 'http://127.0.0.1:8080' }).idempotent).toBe(true);
  });

  test('409 for our own id means that the phone has the SMS', async () => {
    const fixture = opened(await GatewayFixture.open(withOnePhone()));
    expect(fixture.transport.repeat).toBe('idempotent');
    fixture.server.next(json(409, { message: 'message with the same ID already exists' }));
    const [result] = await fixture.submit(anSms({ smsId: SMS_ID, attempt: 2 }));
    expect(result).toEqual({ kind: 'sent', carrierIds: [`${COMPACT}.0`] });
    expect(body(fixture, 'id')).toBe(`${COMPACT}.0`);
    expect(body(fixture, 'deviceId')).toBe('phone-1');
  });

  test.each([
    ['a page of a proxy', { status: 409, body: '<html>Conflict</html>' }, { kind: 'refused', error: 'http_409' }],
    ['half an answer', { status: 202, body: '{"id":"AZnw' }, { kind: 'unknown', error: 'malformed_answer' }],
    ['HTML with 202', { status: 202, body: '<html></html>' }, { kind: 'unknown', error: 'malformed_answer' }],
    [
      'a full queue',
      { status: 503, body: '{"message":"queue limits exceeded"}' },
      { kind: 'retry', error: 'http_503' },
    ],
    ['no such phone', { status: 400, body: '{"message":"Invalid device ID"}' }, { kind: 'retry', error: 'no_device' }],
  ])('%s is read as what it is', async (_, answer, result) => {
    const fixture = opened(await GatewayFixture.open(withOnePhone()));
    fixture.server.next(answer);
    expect(await fixture.submit(anSms({ smsId: SMS_ID }))).toEqual([result]);
  });

  test('gets lifetime, priority and the SIM card', async () => {
    const vendor = (baseUrl: string) =>
      smsgate({ username: 'u', password: 'p', simNumber: 2, activeWithinHours: 12, baseUrl });
    const fixture = opened(
      await GatewayFixture.open({
        ...smsgateDouble,
        vendor,
        read: () => ({ to: '22670000001', from: 'x', text: 'x' }),
      }),
    );
    await fixture.submit(anSms({ priority: 'code', expiresAt: fixture.clock.now() + 300_000 }));
    const [request] = fixture.server.requests;
    expect(request?.path).toBe('/3rdparty/v1/messages?skipPhoneValidation=true&deviceActiveWithin=12');
    expect(parseJson(request?.body)).toMatchObject({
      ttl: 300,
      priority: 127,
      simNumber: 2,
      withDeliveryReport: false,
    });
    await fixture.submit(anSms({ priority: 'bulk', expiresAt: fixture.clock.now() + 1000 }));
    expect(parseJson(fixture.server.requests[1]?.body)).toMatchObject({ ttl: 5, priority: -50 });
  });

  test('in local mode is the phone itself', async () => {
    const vendor = (baseUrl: string) => smsgate({ username: 'u', password: 'p', local: true, baseUrl });
    const fixture = opened(
      await GatewayFixture.open({
        ...smsgateDouble,
        vendor,
        read: () => ({ to: '22670000001', from: 'x', text: 'x' }),
      }),
    );
    await fixture.submit();
    expect(fixture.server.requests[0]?.path).toBe('/messages?skipPhoneValidation=true');
  });

  test.each([
    [
      'Send result: RESULT_ERROR_NO_SERVICE (Failed because service is currently unavailable)',
      'failed',
      'RESULT_ERROR_NO_SERVICE',
    ],
    ['TTL expired', 'failed', 'TTL_expired'],
    ['Sending: no permission', 'failed', 'Sending:_no_permission'],
    ['Delivery result from SC +22670000000: 70', 'undelivered', 'delivery_70'],
    ['Delivery result: 3', 'undelivered', 'delivery_3'],
    [undefined, 'failed', 'failed'],
  ])('the reason %j makes an SMS %s', async (reason, status, error) => {
    const fixture = await open();
    await event(fixture, 'sms:failed', {
      messageId: `${COMPACT}.3.2`,
      reason,
      failedAt: '2026-11-27T07:00:00.000+00:00',
    });
    const at = Date.parse('2026-11-27T07:00:00Z');
    const own = `${SMS_ID}.3.2`;
    expect(fixture.sink.received).toMatchObject([{ status, error, whole: true, at, number: '22670000001' }]);
    expect(fixture.sink.received[0]?.ids.slice(0, 2)).toEqual([own, `${COMPACT}.3.2`]);
    // It also settles an SMS that has no ids because of a crash.
    expect(fixture.sink.reported).toEqual([{ smsId: SMS_ID, position: 3, attempt: 2, status, error }]);
  });

  test('a sent SMS may stay so, and its count of parts is passed on', async () => {
    const fixture = await open();
    await event(fixture, 'sms:sent', { messageId: `${COMPACT}.0.1`, partsCount: 2, sentAt: 'yesterday' });
    expect(fixture.sink.received).toMatchObject([{ status: 'sent', mayBeLast: true, whole: true, segments: 2 }]);
    expect(fixture.sink.received[0]?.at).toBeUndefined();
  });

  test('a long SMS has an id for each part, and each delivered part counts once', async () => {
    const fixture = await open();
    const [result] = await fixture.submit(anSms({ smsId: SMS_ID, text: 'ê'.repeat(150) }));
    expect(result).toEqual({ kind: 'sent', carrierIds: Array(3).fill(`${COMPACT}.0.1-L`) });
    await event(fixture, 'sms:delivered', { messageId: `${COMPACT}.0.1-L`, deliveredAt: '2026-11-27T07:00:00Z' });
    // One part does not make the whole SMS delivered.
    expect(fixture.sink.reported).toEqual([]);
    expect(fixture.sink.received).toMatchObject([{ status: 'delivered', isRepeatByTime: true }]);
  });

  test('a cancelled SMS is refunded', async () => {
    const fixture = await open();
    await event(fixture, 'sms:cancelled', { messageId: `${COMPACT}.0.1` });
    expect(fixture.sink.received).toMatchObject([{ status: 'failed', error: 'cancelled' }]);
  });

  test.each([
    ['the phone knows its number', '+22670990001', '22670990001'],
    ['it does not know it', null, '22670990000'],
  ])('a text has a destination: %s', async (_, recipient, to) => {
    const fixture = await open();
    await event(fixture, 'sms:received', { messageId: 'm1', message: 'STOP', sender: '+22670000001', recipient });
    expect(fixture.sink.texts).toEqual([{ route: 'smsgate', id: 'm1', from: '22670000001', to, text: 'STOP' }]);
  });

  test('the texts of a batch are taken like single ones; a batch with an entry without a sender is refused', async () => {
    const fixture = await open();
    const messages = ['m1', 'm2'].map((messageId) => ({ messageId, message: messageId, sender: '+22670000001' }));
    expect((await event(fixture, 'sms:batch:received', { messages })).status).toBe(200);
    expect(fixture.sink.texts.map(({ id, text }) => [id, text])).toEqual([
      ['m1', 'm1'],
      ['m2', 'm2'],
    ]);
    for (const wrong of [{ messages: [...messages, { message: 'x' }] }, { messages: null }, {}]) {
      expect((await event(fixture, 'sms:batch:received', wrong)).status).toBe(400);
    }
    expect(fixture.sink.texts).toHaveLength(2);
  });

  test.each(['mms:received', 'system:ping', 'app:started'])('%s is acknowledged and ignored', async (name) => {
    const fixture = await open();
    expect((await event(fixture, name, {})).status).toBe(200);
    expect([...fixture.sink.received, ...fixture.sink.texts]).toEqual([]);
  });

  test('a signature expires after ten minutes, and covers the time', async () => {
    const fixture = await open();
    const call = smsgateEvent('sms:delivered', { messageId: 'x' }, fixture.clock.now());
    const later = {
      ...call,
      headers: { ...call.headers, 'x-timestamp': String(Number(call.headers['x-timestamp']) + 60) },
    };
    expect((await fixture.call(later, url)).status).toBe(403);
    fixture.clock.advance(9 * MINUTE_MS);
    expect((await fixture.call(call, url)).status).toBe(200);
    fixture.clock.advance(2 * MINUTE_MS);
    expect((await fixture.call(call, url)).status).toBe(403);
  });
});

describe('httpSMS', () => {
  const url = `${BASE}/httpsms/${CALLBACK_SECRET}`;
  const open = async () =>
    opened(
      await GatewayFixture.open(httpsmsDouble, { callbackUrl: `${BASE}/httpsms`, callbackSecret: CALLBACK_SECRET }),
    );
  const event = (fixture: GatewayFixture, type: string, data: object) =>
    fixture.call(
      httpsmsEvent(type, { owner: '+22670990000', contact: '+22670000001', ...data }, url, fixture.clock.now()),
      url,
    );

  test('a token for another URL, of another issuer, with another key or without one is refused', async () => {
    const fixture = await open();
    const now = fixture.clock.now();
    const good = httpsmsClaims(url, now);
    const call = httpsmsEvent('message.phone.delivered', { id: 'x' }, url, now);
    const answerTo = async (token: string) =>
      (await fixture.call({ ...call, headers: { ...call.headers, authorization: token } }, url)).status;
    const [head, claims] = httpsmsToken(good).split('.');
    const refused = [
      `Bearer ${httpsmsToken({ ...good, aud: ['https://sms.example.org/another'] })}`,
      `Bearer ${httpsmsToken({ ...good, aud: [] })}`,
      `Bearer ${httpsmsToken({ ...good, iss: 'api.example.org' })}`,
      `Bearer ${httpsmsToken({ ...good, exp: undefined })}`,
      `Bearer ${httpsmsToken(good, 'another-key')}`,
      `Bearer ${httpsmsToken(good, HTTPSMS_SIGNING_KEY, 'none')}`,
      `Bearer ${httpsmsToken(good, HTTPSMS_SIGNING_KEY, 'HS512')}`,
      `Bearer ${head}.${claims}.`,
      `Bearer ${head}.${claims}`,
      httpsmsToken(good),
      '',
    ];
    for (const token of refused) expect([token, await answerTo(token)]).toEqual([token, 403]);
    expect(await answerTo(`Bearer ${httpsmsToken({ ...good, aud: url })}`)).toBe(200);
    fixture.clock.advance(16 * MINUTE_MS);
    expect(await answerTo(`Bearer ${httpsmsToken(good)}`)).toBe(403);
  });

  test('a right token on a wrong path is refused, because it does not cover the body', async () => {
    const fixture = await open();
    const call = httpsmsEvent('message.phone.delivered', { id: 'x' }, url, fixture.clock.now());
    expect((await fixture.call(call, url, { secret: undefined })).status).toBe(404);
  });

  test('an SMS that expired may still be sent, so it is only unknown, and only at the end', async () => {
    const fixture = await open();
    await event(fixture, 'message.send.expired', { message_id: 'id-1', request_id: 'sms-1.0.1', is_final: false });
    expect(fixture.sink.received).toEqual([]);
    await event(fixture, 'message.send.expired', { message_id: 'id-1', request_id: 'sms-1.0.1', is_final: true });
    expect(fixture.sink.received).toMatchObject([{ status: 'unknown', error: 'expired' }]);
    expect(fixture.sink.reported).toEqual([]);
  });

  test('an SMS that the phone could not send is failed, by its id and by our reference', async () => {
    const fixture = await open();
    await event(fixture, 'message.send.failed', { id: 'id-1', request_id: 'sms-1.0.2', error_message: 'RADIO_OFF' });
    expect(fixture.sink.received).toMatchObject([{ status: 'failed', error: 'RADIO_OFF' }]);
    expect(fixture.sink.received[0]?.ids.slice(0, 2)).toEqual(['sms-1.0.2', 'id-1']);
    expect(fixture.sink.reported).toMatchObject([{ attempt: 2, status: 'failed' }]);
  });

  test.each([
    ['from', { kind: 'retry', error: 'from' }],
    ['content', { kind: 'refused', error: 'content' }],
    ['to', { kind: 'refused', error: 'to' }],
    ['brandnew', { kind: 'refused', error: 'http_422' }],
  ])('422 about %s', async (field, result) => {
    const fixture = await open();
    fixture.server.next(json(422, { status: 'error', data: { [field]: ['No.'] } }));
    expect(await fixture.submit()).toEqual([result]);
  });
});

describe('textbee', () => {
  const url = `${BASE}/textbee`;
  const open = async () => opened(await GatewayFixture.open(textbeeDouble, { callbackUrl: url }));

  test('without its queue it gives no id, so the SMS is unknown and the log says why', async () => {
    const fixture = await open();
    fixture.server.next(json(200, { data: { responses: [{ success: true, messageId: 'fcm' }], successCount: 1 } }));
    expect(await fixture.submit()).toEqual([{ kind: 'unknown', error: 'no_queue' }]);
    expect(fixture.asked).toBe(1);
  });

  test.each([
    [400, 'Failed to send SMS', { kind: 'unknown', error: 'push_failed' }],
    [500, 'Failed to add SMS to queue', { kind: 'unknown', error: 'http_500' }],
    [400, 'Message cannot be blank', { kind: 'refused', error: 'http_400' }],
  ])('%i %s', async (status, error, result) => {
    const fixture = await open();
    fixture.server.next(json(status, { success: false, error }));
    expect(await fixture.submit()).toEqual([result]);
  });

  test.each([
    ['MESSAGE_SENT', { status: 'sent', mayBeLast: true }],
    ['MESSAGE_DELIVERED', { status: 'delivered' }],
    ['MESSAGE_FAILED', { status: 'failed', error: 'No_service' }],
  ])('%s', async (name, known) => {
    const fixture = await open();
    const fields = { smsBatchId: 'batch-1', recipient: '+22670000001', errorMessage: 'No service' };
    await fixture.call(textbeeEvent(name, fields), url);
    expect(fixture.sink.received).toMatchObject([{ number: '22670000001', ...known }]);
    expect(fixture.sink.received[0]?.ids).toContain('batch-1');
  });

  test.each([
    ['delivery_failed', [{ number: '22670000001', status: 'unknown', error: 'delivery_failed' }]],
    ['dispatched', []],
  ])('UNKNOWN_STATE with the status %s', async (status, receipts) => {
    const fixture = await open();
    const fields = { smsBatchId: 'batch-1', recipient: '+22670000001', status };
    expect(await fixture.call(textbeeEvent('UNKNOWN_STATE', fields), url)).toMatchObject({ status: 200 });
    expect(fixture.sink.received).toMatchObject(receipts);
    expect(fixture.sink.received).toHaveLength(receipts.length);
  });
});
