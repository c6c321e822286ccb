import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DAY_MS } from '../../../../src/common/time.js';
import { messageIds } from '../../../../src/sms/receipts/message-ids.js';
import type { VendorCallback } from '../../../../src/transports/http/vendor.js';
import { generic } from '../../../../src/transports/http/vendors/generic.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import {
  anSms,
  CALLBACK_SECRET,
  DOUBLES,
  GatewayFixture,
} from '../../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../../support/transports/gateway/generic-double.js';
import type { DoubleCall, VendorDouble } from '../../../support/transports/gateway/vendor-double.js';

/** The forms of an id under which its SMS is looked up. */
const formsOf = (id: string) => messageIds([id], 'same');

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

describe.each(DOUBLES)('callbacks of $name', (double) => {
  const base = `https://sms.example.org/api/v1/sms/callbacks/${double.name}`;
  const url = double.signs ? base : `${base}/${CALLBACK_SECRET}`;
  const route = double.name;

  const open = async () =>
    opened(
      await GatewayFixture.open(double, {
        callbackUrl: base,
        ...(double.signs ? {} : { callbackSecret: CALLBACK_SECRET }),
      }),
    );
  // A vendor without ids names the SMS by our reference.
  const named = double.hasNoIds ? { reference: 'sms-1.0.1' } : {};
  const receiptOf = (fixture: GatewayFixture, status: 'delivered' | 'undelivered') =>
    double.receipt({ id: 'the-id', to: '22670000001', status, ...named }, url, fixture.clock.now());
  const ids = double.hasNoIds ? ['sms-1.0.1'] : formsOf('the-id');
  const number = double.namesNoNumber ? {} : { number: '22670000001' };

  test('a receipt is stored under the id of the carrier and acknowledged', async () => {
    const fixture = await open();
    const answer = await fixture.call(receiptOf(fixture, 'delivered'), url);
    expect(answer.status).toBeLessThan(300);
    if (double.hasNoIds) {
      expect(fixture.sink.reported).toEqual([{ smsId: 'sms-1', position: 0, status: 'delivered' }]);
      return;
    }
    expect(fixture.sink.received).toHaveLength(1);
    const [receipt] = fixture.sink.received;
    expect(receipt).toMatchObject({ route, ids, ...number, status: 'delivered' });
    expect(receipt?.error).toBeUndefined();
  });

  test('a failure is stored with the code of the vendor', async () => {
    const fixture = await open();
    await fixture.call(receiptOf(fixture, 'undelivered'), url);
    expect(fixture.sink.received).toMatchObject([{ ids, status: double.failure ?? 'undelivered' }]);
    expect(fixture.sink.received[0]?.error).toMatch(/^[\w.:-]{2,40}$/);
  });

  test('the receipt that was requested with the SMS arrives', async () => {
    const fixture = await open();
    await fixture.submit(anSms({ smsId: '0199-ab', position: 12 }));
    const [taken] = fixture.taken;
    const wanted = taken?.callbackUrl;
    // The URL that a host would otherwise set at the vendor is the same.
    expect(wanted ?? url).toBe(url);
    const [id = ''] = taken?.ids ?? [];
    const reference = taken?.reference === undefined ? {} : { reference: taken.reference };
    const receipt = { id, to: '22670000001', status: 'delivered' as const, ...reference };
    expect((await fixture.call(double.receipt(receipt, url, fixture.clock.now()), url)).status).toBeLessThan(300);
    // Vonage reports on each part of an SMS, so one of these reports does not make the SMS delivered.
    if (taken?.reference === undefined || double.name === 'vonage') {
      const own = taken?.reference === undefined ? [] : ['0199-ab.12.1'];
      expect(fixture.sink.received).toMatchObject([{ ids: [...own, ...formsOf(id)], status: 'delivered' }]);
    } else {
      expect(fixture.sink.reported).toEqual([{ smsId: '0199-ab', position: 12, status: 'delivered' }]);
    }
  });

  test('a receipt is acknowledged only once it is stored', async () => {
    const fixture = await open();
    let stored: () => void = () => undefined;
    fixture.sink.store = () => new Promise((resolve) => (stored = resolve));
    const answer = fixture.call(receiptOf(fixture, 'delivered'), url);
    await new Promise(setImmediate);
    expect(await Promise.race([answer, 'waiting'])).toBe('waiting');
    stored();
    expect((await answer).status).toBeLessThan(300);
  });

  test('a receipt that cannot be stored is not acknowledged', async () => {
    const fixture = await open();
    fixture.sink.store = () => Promise.reject(new Error('away'));
    await expect(fixture.call(receiptOf(fixture, 'delivered'), url)).rejects.toThrow('away');
  });

  test('a state that is not final is acknowledged and ignored', async () => {
    const fixture = await open();
    expect((await fixture.call(double.underWay('the-id', url, fixture.clock.now()), url)).status).toBeLessThan(300);
    expect([...fixture.sink.received, ...fixture.sink.reported]).toEqual([]);
  });

  test.each(['constructor', 'toString', '__proto__', 'nonsense'])(
    'the unknown state %s is acknowledged and ignored',
    async (state) => {
      const fixture = await open();
      const call = double.underWay('the-id', url, fixture.clock.now(), state);
      expect((await fixture.call(call, url)).status).toBeLessThan(300);
      expect([...fixture.sink.received, ...fixture.sink.reported]).toEqual([]);
    },
  );

  test('a text from a phone is stored', async () => {
    const fixture = await open();
    const to = double.ownNumber ?? '22600000';
    const message = { from: '22670000001', to, text: 'STOP & fini = été' };
    expect((await fixture.call(double.inbound(message, url, fixture.clock.now()), url)).status).toBeLessThan(300);
    expect(fixture.sink.texts).toMatchObject([{ route, ...message }]);
  });

  test('a caller that does not prove to be the vendor is refused, and nothing is stored', async () => {
    const fixture = await open();
    const call = receiptOf(fixture, 'delivered');
    const forged = forgeries(call, double.signs);
    const turnedAway = double.signs ? 403 : 404;
    for (const [what, { headers, body, secret }] of Object.entries(forged)) {
      const answer = await fixture.call({ ...call, headers, body }, url, { secret });
      expect([what, answer.status]).toEqual([what, turnedAway]);
    }
    expect([...fixture.sink.received, ...fixture.sink.reported, ...fixture.sink.texts]).toEqual([]);
  });

  test('a callback that cannot be read is refused', async () => {
    const fixture = await open();
    const { headers } = receiptOf(fixture, 'delivered');
    // Without the vendor's signature, the callback is refused before it is read.
    const unreadable = double.signs ? 403 : 400;
    for (const body of ['{"half":', '\ufffd'.repeat(3)]) {
      const bytes = Buffer.from(body === '{"half":' ? body : [0xff, 0xfe, 0xff]);
      const answer = await fixture.call({ headers: { ...headers, 'content-type': 'application/json' }, body }, url, {
        body: bytes,
      });
      expect(answer.status).toBe(unreadable);
    }
    expect(
      (await fixture.call({ headers: { ...headers, 'content-type': 'text/xml' }, body: '<a/>' }, url)).status,
    ).toBe(unreadable);
  });

  const FORM = 'application/x-www-form-urlencoded';
  /** A signature that a stranger can invent: it looks like one of Twilio's or Vonage's. */
  const FORGED = { 'content-type': FORM, 'x-twilio-signature': `${'A'.repeat(27)}=` };

  test('a form with more fields than any vendor sends is refused by its bytes, before it is parsed', async () => {
    const fixture = await open();
    const decode = jest.spyOn(TextDecoder.prototype, 'decode');
    for (const count of [1001, 30_000]) {
      const body = ['sig=1', ...Array.from({ length: count - 1 }, () => 'f')].join('&');
      // A signature over the bytes is missing, or the fields are too many to find a signature in them.
      expect([400, 403]).toContain((await fixture.call({ headers: FORGED, body }, url)).status);
    }
    expect(decode).not.toHaveBeenCalled();
    decode.mockRestore();
    expect(fixture.sink.received).toEqual([]);
  });

  if (double.signs) {
    test('a callback without a signature is refused before it is parsed', async () => {
      const fixture = await open();
      const decode = jest.spyOn(TextDecoder.prototype, 'decode');
      const parse = jest.spyOn(JSON, 'parse');
      for (const type of [FORM, 'application/json']) {
        const body = type === FORM ? 'a=1&b=2' : '{"a":[{},{}]}';
        for (const header of [{}, { 'x-twilio-signature': 'forged' }]) {
          expect((await fixture.call({ headers: { 'content-type': type, ...header }, body }, url)).status).toBe(403);
        }
      }
      expect([decode.mock.calls, parse.mock.calls]).toEqual([[], []]);
      decode.mockRestore();
      parse.mockRestore();
    });

    test('a callback that is too long to search it for a signature is refused before it is parsed', async () => {
      const fixture = await open();
      const parse = jest.spyOn(JSON, 'parse');
      const body = `{"sig":"1","timestamp":"1","x":[${'{},'.repeat(30_000)}{}]}`;
      const answer = await fixture.call({ headers: { ...FORGED, 'content-type': 'application/json' }, body }, url);
      expect([400, 403]).toContain(answer.status);
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
    });
  }

  test('a repeated callback is reported twice, because states only move forward', async () => {
    const fixture = await open();
    const call = receiptOf(fixture, 'delivered');
    const first = await fixture.call(call, url);
    expect(await fixture.call(call, url)).toEqual(first);
    const [one, other] = fixture.sink.received;
    expect(one).toEqual(other);
  });
});

/** The headers in which vendors sign. */
const SIGNATURE_HEADERS = ['x-twilio-signature', 'x-signature'];

function forgeries({ headers, body }: DoubleCall, signs: boolean) {
  const changed = body.replace('the-id', 'other-id');
  const name = SIGNATURE_HEADERS.find((each) => headers[each] !== undefined) ?? '';
  const { [name]: signature, ...unsigned } = headers;
  if (!signs) {
    return {
      'no secret': { headers, body, secret: undefined },
      'a wrong secret': { headers, body, secret: `${CALLBACK_SECRET}x` },
      'half the secret': { headers, body, secret: CALLBACK_SECRET.slice(0, 10) },
    };
  }
  const wrong =
    signature === undefined ? {} : { [name]: signature.replace(/^./, (first) => (first === '0' ? '1' : '0')) };
  return {
    'a changed body': { headers, body: changed, secret: undefined },
    'no signature': { headers: unsigned, body: body.replace(/"sig":"\w+"/, '"nosig":"x"'), secret: undefined },
    'a wrong signature': {
      headers: { ...unsigned, ...wrong },
      body: body.replace(/"sig":"\w/, '"sig":"0'),
      secret: undefined,
    },
    'an empty signature': {
      headers: { ...headers, ...(signature === undefined ? {} : { [name]: '' }) },
      body: body.replace(/"sig":"\w+"/, '"sig":""'),
      secret: undefined,
    },
  };
}

describe('peculiarities of single vendors', () => {
  const worldOf = async (name: string, options = {}) => {
    const double = DOUBLES.find((each) => each.name === name);
    if (!double) throw new Error(`No double of ${name}.`);
    return opened(await GatewayFixture.open(double, options));
  };
  const secret = { callbackSecret: CALLBACK_SECRET };
  const at = `https://sms.example.org/callbacks/${CALLBACK_SECRET}`;
  const form = (fields: Record<string, string>) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });

  test('a signature of Vonage expires: anything older than its retries is a replay', async () => {
    const fixture = await worldOf('vonage');
    const url = 'https://sms.example.org/callbacks/vonage';
    const call = fixture.double.receipt(
      { id: 'the-id', to: '22670000001', status: 'delivered' },
      url,
      fixture.clock.now(),
    );
    fixture.clock.advance(DAY_MS);
    expect((await fixture.call(call, url)).status).toBe(200);
    fixture.clock.advance(2 * 3_600_000);
    expect((await fixture.call(call, url)).status).toBe(403);
    const early = fixture.double.receipt(
      { id: 'x', to: '22670000001', status: 'delivered' },
      url,
      fixture.clock.now() + DAY_MS,
    );
    expect((await fixture.call(early, url)).status).toBe(403);
  });

  describe('callbacks by GET, as Vonage sends them by default', () => {
    const url = 'https://sms.example.org/callbacks/vonage';
    /** The fields that a POST would have, with the signature over them, as a query. */
    const byGet = ({ body }: { readonly body: string }) => ({
      query: new URLSearchParams(JSON.parse(body)).toString(),
      headers: {},
      body: '',
    });
    const get = (fixture: GatewayFixture, call: DoubleCall, to = url) => fixture.call(call, to, { method: 'GET' });
    const receiptOf = (fixture: GatewayFixture) =>
      byGet(
        fixture.double.receipt({ id: 'the-id', to: '22670000001', status: 'undelivered' }, url, fixture.clock.now()),
      );

    test('receipts and texts are stored, with the same proof as by POST', async () => {
      const fixture = await worldOf('vonage');
      expect((await get(fixture, receiptOf(fixture))).status).toBe(200);
      const message = { from: '22670000001', to: '22600000', text: 'STOP & fini = été' };
      expect((await get(fixture, byGet(fixture.double.inbound(message, url, fixture.clock.now())))).status).toBe(200);
      const about = { route: 'vonage', ids: formsOf('the-id'), number: '22670000001', status: 'undelivered' };
      expect(fixture.sink.received).toMatchObject([about]);
      expect(fixture.sink.texts).toMatchObject([{ route: 'vonage', ...message }]);
    });

    test('a callback with another signature is refused, even if the body has what the query lacks', async () => {
      const fixture = await worldOf('vonage');
      const call = receiptOf(fixture);
      const posted = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: call.query };
      const forged = [
        { ...call, query: call.query.replace('the-id', 'other-id') },
        { ...call, query: call.query.replace(/sig=\w/, 'sig=0') },
        { ...call, query: call.query.replace(/&sig=\w+/, '') },
        { ...call, query: `${call.query}&more=x` },
        { ...call, query: '' },
        { ...call, ...posted, query: '' },
      ];
      for (const each of forged) expect((await get(fixture, each)).status).toBe(403);
      // Nor does a signed query authenticate a POST.
      expect((await fixture.call({ ...call, ...posted, body: '' }, url)).status).toBe(403);
      fixture.clock.advance(26 * 3_600_000);
      expect((await get(fixture, call)).status).toBe(403);
      expect([...fixture.sink.received, ...fixture.sink.texts]).toEqual([]);
    });

    test('a secret path works with GET too', async () => {
      const fixture = await worldOf('vonage', secret);
      const call = receiptOf(fixture);
      expect((await fixture.call(call, at, { method: 'GET', secret: undefined })).status).toBe(404);
      expect((await get(fixture, call, at)).status).toBe(200);
      expect(fixture.sink.received).toHaveLength(1);
    });

    test('a gateway that the host describes may call by GET', async () => {
      const double: VendorDouble = {
        ...genericDouble,
        vendor: (baseUrl) => {
          const vendor = genericDouble.vendor(baseUrl);
          const read: VendorCallback['read'] = (content) => ({
            receipts: [{ id: content.field('id') ?? '', status: 'delivered' }],
          });
          return generic({ ...vendor, callback: { byGet: true, read } });
        },
      };
      const fixture = opened(await GatewayFixture.open(double, secret));
      expect((await get(fixture, { query: 'id=the-id', headers: {}, body: '' }, at)).status).toBe(200);
      expect(fixture.sink.received).toMatchObject([{ ids: formsOf('the-id'), status: 'delivered' }]);
    });

    test.each(['twilio', 'infobip', 'africastalking', 'orange', 'jasmin', 'mtn', 'acme'])(
      '%s may not call by GET',
      async (name) => {
        const fixture = await worldOf(name, name === 'twilio' ? {} : secret);
        const call = fixture.double.receipt(
          { id: 'x', to: '22670000001', status: 'delivered' },
          at,
          fixture.clock.now(),
        );
        expect((await get(fixture, call, at)).status).toBe(404);
        expect([...fixture.sink.received, ...fixture.sink.reported]).toEqual([]);
      },
    );
  });

  test('endless forged calls do not fill the log', async () => {
    const fixture = await worldOf('twilio');
    const warned = jest.spyOn(Logger.prototype, 'warn');
    const forged = form({ MessageSid: 'SM1', MessageStatus: 'failed' });
    for (let call = 0; call < 20; call++) expect((await fixture.call(forged, at)).status).toBe(403);
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  test('Twilio signs the URL that the host gave it, not the one a proxy made of it', async () => {
    const callbackUrl = 'https://sms.example.org/api/v1/sms/callbacks/twilio';
    const fixture = await worldOf('twilio', { callbackUrl });
    const receipt = { id: 'the-id', to: '22670000001', status: 'delivered', reference: 'sms-1.0' } as const;
    const call = fixture.double.receipt(receipt, callbackUrl, fixture.clock.now());
    expect((await fixture.call(call, 'http://10.0.0.7:8080/api/v1/sms/callbacks/twilio')).status).toBe(200);
    expect(fixture.sink.reported).toEqual([{ smsId: 'sms-1', position: 0, status: 'delivered' }]);
    // The query is part of what is signed.
    expect((await fixture.call({ ...call, query: 'ref=sms-2.0' }, callbackUrl)).status).toBe(403);
  });

  test('Twilio gets XML when a text has come in, as it requires', async () => {
    const fixture = await worldOf('twilio');
    const url = 'https://sms.example.org/callbacks/twilio';
    const call = fixture.double.inbound({ from: '22670000001', to: '22600000', text: 'x' }, url, fixture.clock.now());
    expect(await fixture.call(call, url)).toEqual({ status: 200, body: '<Response/>', contentType: 'text/xml' });
  });

  test('a failure is reported by the id and by the reference of the attempt, because another attempt may have succeeded', async () => {
    const fixture = await worldOf('infobip', secret);
    const receipt = { id: 'the-id', to: '22670000001', status: 'undelivered', reference: 'sms-1.0.2' } as const;
    await fixture.call(fixture.double.receipt(receipt, at, fixture.clock.now()), at);
    // A report on an attempt only settles an SMS that nothing else could settle.
    const onAttempt = { smsId: 'sms-1', position: 0, attempt: 2, status: 'undelivered' };
    expect(fixture.sink.reported).toEqual([{ ...onAttempt, error: 'EC_ABSENT_SUBSCRIBER' }]);
    expect(fixture.sink.received).toMatchObject([
      { ids: ['sms-1.0.2', ...formsOf('the-id')], status: 'undelivered', at: fixture.clock.now() },
    ]);
  });

  test('a receipt keeps the vendor’s own time, even if its clock is ahead of ours', async () => {
    const fixture = await worldOf('infobip', secret);
    const ahead = fixture.clock.now() + 5000;
    await fixture.call(
      fixture.double.receipt({ id: 'the-id', to: '22670000001', status: 'undelivered' }, at, ahead),
      at,
    );
    expect(fixture.sink.received).toMatchObject([{ ids: formsOf('the-id'), at: ahead }]);
  });

  test('a reference that is not ours is ignored', async () => {
    const fixture = await worldOf('infobip', secret);
    for (const reference of ['no reference', '../1.0', 'sms-1', 'sms-1.x', `${'a'.repeat(200)}.1`]) {
      const receipt = { id: 'the-id', to: '22670000001', status: 'delivered', reference } as const;
      await fixture.call(fixture.double.receipt(receipt, at, fixture.clock.now()), at);
    }
    expect(fixture.sink.reported).toEqual([]);
    expect(fixture.sink.received).toHaveLength(5);
  });

  test('several receipts in one call are handed in together, without those that make no sense', async () => {
    const fixture = await worldOf('infobip', secret);
    const good = (messageId: string) => ({
      messageId,
      to: '22670000001',
      status: { groupId: 3, name: 'DELIVERED_TO_HANDSET' },
    });
    const results = [
      good('a'),
      null,
      { status: 7 },
      { ...good('b'), to: 'nobody' },
      { ...good('c'), doneAt: '1999-01-01' },
    ];
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await fixture.call({ headers, body: JSON.stringify({ results }) }, at)).status).toBe(200);
    const status = 'delivered';
    expect(fixture.sink.received).toEqual([
      { route: 'infobip', ids: formsOf('a'), status, number: '22670000001' },
      { route: 'infobip', ids: formsOf('b'), status },
      { route: 'infobip', ids: formsOf('c'), status, number: '22670000001' },
    ]);
  });

  test.each([
    ['DeliveredToNetwork', [{ status: 'sent', mayBeLast: true }]],
    ['DeliveryNotificationNotSupported', [{ status: 'sent', mayBeLast: true }]],
    ['MessageWaiting', []],
    ['DeliveryUncertain', [{ status: 'unknown', error: 'DeliveryUncertain' }]],
  ])('Orange reports %s', async (state, said) => {
    const fixture = await worldOf('orange', secret);
    expect((await fixture.call(fixture.double.underWay('the-id', at, fixture.clock.now(), state), at)).status).toBe(
      200,
    );
    const about = { route: 'orange', ids: formsOf('the-id'), number: '22670000001' };
    expect(fixture.sink.received).toEqual(said.map((each) => ({ ...about, ...each })));
  });

  test('an opt-out at Africa’s Talking counts as a STOP to that sender', async () => {
    const fixture = await worldOf('africastalking', secret);
    await fixture.call(form({ senderId: 'ALERTE', phoneNumber: '+22670000001' }), at);
    expect(fixture.sink.texts).toEqual([{ route: 'africastalking', from: '22670000001', to: 'ALERTE', text: 'STOP' }]);
  });

  test('a text from a sender without a number cannot be answered and is left out', async () => {
    const fixture = await worldOf('africastalking', secret);
    expect((await fixture.call(form({ id: '1', from: 'BANK', to: '22600000', text: 'x' }), at)).status).toBe(200);
    expect(fixture.sink.texts).toEqual([]);
  });

  test('a vendor’s code that contains a number is not passed on', async () => {
    const fixture = await worldOf('africastalking', secret);
    const fields = {
      id: '1',
      status: 'Failed',
      phoneNumber: '+22670000001',
      failureReason: 'To +22670000001 <b>off</b>',
    };
    await fixture.call(form(fields), at);
    expect(fixture.sink.received[0]?.error).toBe('To___b_off_b_');
  });

  test('without a signature and a secret, no callback is served', async () => {
    expect((await worldOf('infobip')).transport.callbacks.size).toBe(0);
    expect([...(await worldOf('twilio', { name: 'twilio-two' })).transport.callbacks.keys()]).toEqual(['twilio-two']);
  });

  test('a vendor that signs may be given a secret path in addition', async () => {
    const fixture = await worldOf('twilio', secret);
    const call = fixture.double.receipt({ id: 'x', to: '22670000001', status: 'delivered' }, at, fixture.clock.now());
    expect((await fixture.call(call, at, { secret: undefined })).status).toBe(404);
    expect((await fixture.call(call, at)).status).toBe(200);
  });
});
