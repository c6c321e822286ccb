import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DAY_MS } from '../../../src/common/time.js';
import { messageIds } from '../../../src/sms/receipts/message-ids.js';
import type { VendorCallback } from '../../../src/transports/http/vendor.js';
import { generic } from '../../../src/transports/http/vendors/generic.js';
import { anSms, CALLBACK_SECRET, DOUBLES, GatewayWorld } from '../../support/gateway/gateway-world.js';
import { genericDouble } from '../../support/gateway/generic-double.js';
import type { DoubleCall, VendorDouble } from '../../support/gateway/vendor-double.js';
import { closeAfterEach } from '../../support/opened.js';

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
      await GatewayWorld.open(double, {
        callbackUrl: base,
        ...(double.signs ? {} : { callbackSecret: CALLBACK_SECRET }),
      }),
    );
  const receiptOf = (world: GatewayWorld, status: 'delivered' | 'undelivered') =>
    double.receipt({ id: 'the-id', to: '22670000001', status }, url, world.clock.now());

  test('a receipt is handed in under the id of the carrier, and acknowledged', async () => {
    const world = await open();
    const answer = await world.call(receiptOf(world, 'delivered'), url);
    expect(answer.status).toBeLessThan(300);
    expect(world.sink.received).toHaveLength(1);
    const [receipt] = world.sink.received;
    expect(receipt).toMatchObject({ route, ids: formsOf('the-id'), number: '22670000001', status: 'delivered' });
    expect(receipt?.error).toBeUndefined();
  });

  test('bad news comes with the code of the vendor', async () => {
    const world = await open();
    await world.call(receiptOf(world, 'undelivered'), url);
    expect(world.sink.received).toMatchObject([{ ids: formsOf('the-id'), status: 'undelivered' }]);
    expect(world.sink.received[0]?.error).toMatch(/^[\w.:-]{2,40}$/);
  });

  test('the receipt asked for with the SMS finds its way back', async () => {
    const world = await open();
    await world.submit(anSms({ smsId: '0199-ab', position: 12 }));
    const [taken] = world.taken;
    const wanted = taken?.callbackUrl;
    // Where the URL is set at the vendor instead, it is this one.
    expect(wanted ?? url).toBe(url);
    const [id = ''] = taken?.ids ?? [];
    const reference = taken?.reference === undefined ? {} : { reference: taken.reference };
    const receipt = { id, to: '22670000001', status: 'delivered' as const, ...reference };
    expect((await world.call(double.receipt(receipt, url, world.clock.now()), url)).status).toBeLessThan(300);
    // Vonage reports on each part of an SMS, so that one of them does not make the SMS delivered.
    if (taken?.reference === undefined || double.name === 'vonage') {
      const own = taken?.reference === undefined ? [] : ['0199-ab.12.1'];
      expect(world.sink.received).toMatchObject([{ ids: [...own, ...formsOf(id)], status: 'delivered' }]);
    } else {
      expect(world.sink.reported).toEqual([{ smsId: '0199-ab', position: 12, status: 'delivered' }]);
    }
  });

  test('it is acknowledged only when it is stored', async () => {
    const world = await open();
    let stored: () => void = () => undefined;
    world.sink.store = () => new Promise((resolve) => (stored = resolve));
    const answer = world.call(receiptOf(world, 'delivered'), url);
    await new Promise(setImmediate);
    expect(await Promise.race([answer, 'waiting'])).toBe('waiting');
    stored();
    expect((await answer).status).toBeLessThan(300);
  });

  test('what cannot be stored is not acknowledged', async () => {
    const world = await open();
    world.sink.store = () => Promise.reject(new Error('away'));
    await expect(world.call(receiptOf(world, 'delivered'), url)).rejects.toThrow('away');
  });

  test('a state that is not final is acknowledged and no news', async () => {
    const world = await open();
    expect((await world.call(double.underWay('the-id', url, world.clock.now()), url)).status).toBeLessThan(300);
    expect([...world.sink.received, ...world.sink.reported]).toEqual([]);
  });

  test.each(['constructor', 'toString', '__proto__', 'nonsense'])(
    'nor is a state %s, which nobody has',
    async (state) => {
      const world = await open();
      const call = double.underWay('the-id', url, world.clock.now(), state);
      expect((await world.call(call, url)).status).toBeLessThan(300);
      expect([...world.sink.received, ...world.sink.reported]).toEqual([]);
    },
  );

  test('a text from a phone is handed in', async () => {
    const world = await open();
    const message = { from: '22670000001', to: '22600000', text: 'STOP & fini = été' };
    expect((await world.call(double.inbound(message, url, world.clock.now()), url)).status).toBeLessThan(300);
    expect(world.sink.texts).toMatchObject([{ route, ...message }]);
  });

  test('who does not prove to be the vendor is turned away, and nothing is stored', async () => {
    const world = await open();
    const call = receiptOf(world, 'delivered');
    const forged = forgeries(call, double.signs);
    const turnedAway = double.signs ? 403 : 404;
    for (const [what, { headers, body, secret }] of Object.entries(forged)) {
      const answer = await world.call({ ...call, headers, body }, url, { secret });
      expect([what, answer.status]).toEqual([what, turnedAway]);
    }
    expect([...world.sink.received, ...world.sink.reported, ...world.sink.texts]).toEqual([]);
  });

  test('what cannot be read is refused', async () => {
    const world = await open();
    const { headers } = receiptOf(world, 'delivered');
    // Without the signature of the vendor nobody looks whether it can be read.
    const unreadable = double.signs ? 403 : 400;
    for (const body of ['{"half":', '\ufffd'.repeat(3)]) {
      const bytes = Buffer.from(body === '{"half":' ? body : [0xff, 0xfe, 0xff]);
      const answer = await world.call({ headers: { ...headers, 'content-type': 'application/json' }, body }, url, {
        body: bytes,
      });
      expect(answer.status).toBe(unreadable);
    }
    expect((await world.call({ headers: { ...headers, 'content-type': 'text/xml' }, body: '<a/>' }, url)).status).toBe(
      unreadable,
    );
  });

  const FORM = 'application/x-www-form-urlencoded';
  /** What a stranger can make up: it looks like a signature of Twilio's and of Vonage's. */
  const FORGED = { 'content-type': FORM, 'x-twilio-signature': `${'A'.repeat(27)}=` };

  test('a form of more fields than any vendor sends is refused by its bytes, before it is parsed', async () => {
    const world = await open();
    const decode = jest.spyOn(TextDecoder.prototype, 'decode');
    for (const count of [1001, 30_000]) {
      const body = ['sig=1', ...Array.from({ length: count - 1 }, () => 'f')].join('&');
      expect((await world.call({ headers: FORGED, body }, url)).status).toBe(400);
    }
    expect(decode).not.toHaveBeenCalled();
    decode.mockRestore();
    expect(world.sink.received).toEqual([]);
  });

  if (double.signs) {
    test('what carries no signature is refused before it is parsed', async () => {
      const world = await open();
      const decode = jest.spyOn(TextDecoder.prototype, 'decode');
      const parse = jest.spyOn(JSON, 'parse');
      for (const type of [FORM, 'application/json']) {
        const body = type === FORM ? 'a=1&b=2' : '{"a":[{},{}]}';
        for (const header of [{}, { 'x-twilio-signature': 'forged' }]) {
          expect((await world.call({ headers: { 'content-type': type, ...header }, body }, url)).status).toBe(403);
        }
      }
      expect([decode.mock.calls, parse.mock.calls]).toEqual([[], []]);
      decode.mockRestore();
      parse.mockRestore();
    });

    test('what is too long to look for a signature in it is refused before it is parsed', async () => {
      const world = await open();
      const parse = jest.spyOn(JSON, 'parse');
      const body = `{"sig":"1","timestamp":"1","x":[${'{},'.repeat(30_000)}{}]}`;
      const answer = await world.call({ headers: { ...FORGED, 'content-type': 'application/json' }, body }, url);
      expect([400, 403]).toContain(answer.status);
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
    });
  }

  test('the same call twice says the same twice: states that only move forward do the rest', async () => {
    const world = await open();
    const call = receiptOf(world, 'delivered');
    const first = await world.call(call, url);
    expect(await world.call(call, url)).toEqual(first);
    const [one, other] = world.sink.received;
    expect(one).toEqual(other);
  });
});

function forgeries({ headers, body }: DoubleCall, signs: boolean) {
  const changed = body.replace('the-id', 'other-id');
  const { 'x-twilio-signature': signature, ...unsigned } = headers;
  if (!signs) {
    return {
      'no secret': { headers, body, secret: undefined },
      'a wrong secret': { headers, body, secret: `${CALLBACK_SECRET}x` },
      'half the secret': { headers, body, secret: CALLBACK_SECRET.slice(0, 10) },
    };
  }
  const wrong = headers['x-twilio-signature'] === undefined ? {} : { 'x-twilio-signature': 'AAAA' };
  return {
    'a changed body': { headers, body: changed, secret: undefined },
    'no signature': { headers: unsigned, body: body.replace(/"sig":"\w+"/, '"nosig":"x"'), secret: undefined },
    'a wrong signature': {
      headers: { ...unsigned, ...wrong },
      body: body.replace(/"sig":"\w/, '"sig":"0'),
      secret: undefined,
    },
    'an empty signature': {
      headers: { ...headers, ...(signature === undefined ? {} : { 'x-twilio-signature': '' }) },
      body: body.replace(/"sig":"\w+"/, '"sig":""'),
      secret: undefined,
    },
  };
}

describe('what only some vendors do', () => {
  const worldOf = async (name: string, options = {}) => {
    const double = DOUBLES.find((each) => each.name === name);
    if (!double) throw new Error(`No double of ${name}.`);
    return opened(await GatewayWorld.open(double, options));
  };
  const secret = { callbackSecret: CALLBACK_SECRET };
  const at = `https://sms.example.org/callbacks/${CALLBACK_SECRET}`;
  const form = (fields: Record<string, string>) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });

  test('a signature of Vonage ages: what is older than its retries is a replay', async () => {
    const world = await worldOf('vonage');
    const url = 'https://sms.example.org/callbacks/vonage';
    const call = world.double.receipt({ id: 'the-id', to: '22670000001', status: 'delivered' }, url, world.clock.now());
    world.clock.advance(DAY_MS);
    expect((await world.call(call, url)).status).toBe(200);
    world.clock.advance(2 * 3_600_000);
    expect((await world.call(call, url)).status).toBe(403);
    const early = world.double.receipt(
      { id: 'x', to: '22670000001', status: 'delivered' },
      url,
      world.clock.now() + DAY_MS,
    );
    expect((await world.call(early, url)).status).toBe(403);
  });

  describe('by GET, as Vonage calls until it is told otherwise', () => {
    const url = 'https://sms.example.org/callbacks/vonage';
    /** The fields that it would have posted, with its signature over them, as a query. */
    const byGet = ({ body }: { readonly body: string }) => ({
      query: new URLSearchParams(JSON.parse(body)).toString(),
      headers: {},
      body: '',
    });
    const get = (world: GatewayWorld, call: DoubleCall, to = url) => world.call(call, to, { method: 'GET' });
    const receiptOf = (world: GatewayWorld) =>
      byGet(world.double.receipt({ id: 'the-id', to: '22670000001', status: 'undelivered' }, url, world.clock.now()));

    test('receipts and texts are handed in, with the same proof as by POST', async () => {
      const world = await worldOf('vonage');
      expect((await get(world, receiptOf(world))).status).toBe(200);
      const message = { from: '22670000001', to: '22600000', text: 'STOP & fini = été' };
      expect((await get(world, byGet(world.double.inbound(message, url, world.clock.now())))).status).toBe(200);
      const about = { route: 'vonage', ids: formsOf('the-id'), number: '22670000001', status: 'undelivered' };
      expect(world.sink.received).toMatchObject([about]);
      expect(world.sink.texts).toMatchObject([{ route: 'vonage', ...message }]);
    });

    test('what is not signed so is turned away, also where the body has what the query lacks', async () => {
      const world = await worldOf('vonage');
      const call = receiptOf(world);
      const posted = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: call.query };
      const forged = [
        { ...call, query: call.query.replace('the-id', 'other-id') },
        { ...call, query: call.query.replace(/sig=\w/, 'sig=0') },
        { ...call, query: call.query.replace(/&sig=\w+/, '') },
        { ...call, query: `${call.query}&more=x` },
        { ...call, query: '' },
        { ...call, ...posted, query: '' },
      ];
      for (const each of forged) expect((await get(world, each)).status).toBe(403);
      // Nor does a query prove a POST.
      expect((await world.call({ ...call, ...posted, body: '' }, url)).status).toBe(403);
      world.clock.advance(26 * 3_600_000);
      expect((await get(world, call)).status).toBe(403);
      expect([...world.sink.received, ...world.sink.texts]).toEqual([]);
    });

    test('a secret path is asked for by GET, too', async () => {
      const world = await worldOf('vonage', secret);
      const call = receiptOf(world);
      expect((await world.call(call, at, { method: 'GET', secret: undefined })).status).toBe(404);
      expect((await get(world, call, at)).status).toBe(200);
      expect(world.sink.received).toHaveLength(1);
    });

    test('a gateway that the host describes may call so', async () => {
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
      const world = opened(await GatewayWorld.open(double, secret));
      expect((await get(world, { query: 'id=the-id', headers: {}, body: '' }, at)).status).toBe(200);
      expect(world.sink.received).toMatchObject([{ ids: formsOf('the-id'), status: 'delivered' }]);
    });

    test.each(['twilio', 'infobip', 'africastalking', 'orange', 'acme'])('%s does not call so', async (name) => {
      const world = await worldOf(name, name === 'twilio' ? {} : secret);
      const call = world.double.receipt({ id: 'x', to: '22670000001', status: 'delivered' }, at, world.clock.now());
      expect((await get(world, call, at)).status).toBe(404);
      expect([...world.sink.received, ...world.sink.reported]).toEqual([]);
    });
  });

  test('whoever forges calls without end does not fill the log', async () => {
    const world = await worldOf('twilio');
    const warned = jest.spyOn(Logger.prototype, 'warn');
    const forged = form({ MessageSid: 'SM1', MessageStatus: 'failed' });
    for (let call = 0; call < 20; call++) expect((await world.call(forged, at)).status).toBe(403);
    expect(warned).toHaveBeenCalledTimes(1);
    warned.mockRestore();
  });

  test('Twilio signs the URL the host gave it, not the one a proxy made of it', async () => {
    const callbackUrl = 'https://sms.example.org/api/v1/sms/callbacks/twilio';
    const world = await worldOf('twilio', { callbackUrl });
    const receipt = { id: 'the-id', to: '22670000001', status: 'delivered', reference: 'sms-1.0' } as const;
    const call = world.double.receipt(receipt, callbackUrl, world.clock.now());
    expect((await world.call(call, 'http://10.0.0.7:8080/api/v1/sms/callbacks/twilio')).status).toBe(200);
    expect(world.sink.reported).toEqual([{ smsId: 'sms-1', position: 0, status: 'delivered' }]);
    // The query is signed with it.
    expect((await world.call({ ...call, query: 'ref=sms-2.0' }, callbackUrl)).status).toBe(403);
  });

  test('Twilio hears XML, as it wants to when a text has come in', async () => {
    const world = await worldOf('twilio');
    const url = 'https://sms.example.org/callbacks/twilio';
    const call = world.double.inbound({ from: '22670000001', to: '22600000', text: 'x' }, url, world.clock.now());
    expect(await world.call(call, url)).toEqual({ status: 200, body: '<Response/>', contentType: 'text/xml' });
  });

  test('bad news goes by the id and the reference of the attempt: another attempt may have got through', async () => {
    const world = await worldOf('infobip', secret);
    const receipt = { id: 'the-id', to: '22670000001', status: 'undelivered', reference: 'sms-1.0.2' } as const;
    await world.call(world.double.receipt(receipt, at, world.clock.now()), at);
    // A report on an attempt only settles what nothing else could.
    const onAttempt = { smsId: 'sms-1', position: 0, attempt: 2, status: 'undelivered' };
    expect(world.sink.reported).toEqual([{ ...onAttempt, error: 'EC_ABSENT_SUBSCRIBER' }]);
    expect(world.sink.received).toMatchObject([
      { ids: ['sms-1.0.2', ...formsOf('the-id')], status: 'undelivered', at: world.clock.now() },
    ]);
  });

  test("the vendor's own time goes with a receipt, also when its clock is ahead of ours", async () => {
    const world = await worldOf('infobip', secret);
    const ahead = world.clock.now() + 5000;
    await world.call(world.double.receipt({ id: 'the-id', to: '22670000001', status: 'undelivered' }, at, ahead), at);
    expect(world.sink.received).toMatchObject([{ ids: formsOf('the-id'), at: ahead }]);
  });

  test('a reference that is none of ours is passed over', async () => {
    const world = await worldOf('infobip', secret);
    for (const reference of ['no reference', '../1.0', 'sms-1', 'sms-1.x', `${'a'.repeat(200)}.1`]) {
      const receipt = { id: 'the-id', to: '22670000001', status: 'delivered', reference } as const;
      await world.call(world.double.receipt(receipt, at, world.clock.now()), at);
    }
    expect(world.sink.reported).toEqual([]);
    expect(world.sink.received).toHaveLength(5);
  });

  test('several receipts of one call are handed in together, what makes no sense among them is left out', async () => {
    const world = await worldOf('infobip', secret);
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
    expect((await world.call({ headers, body: JSON.stringify({ results }) }, at)).status).toBe(200);
    const status = 'delivered';
    expect(world.sink.received).toEqual([
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
  ])('Orange says %s', async (state, said) => {
    const world = await worldOf('orange', secret);
    expect((await world.call(world.double.underWay('the-id', at, world.clock.now(), state), at)).status).toBe(200);
    const about = { route: 'orange', ids: formsOf('the-id'), number: '22670000001' };
    expect(world.sink.received).toEqual(said.map((each) => ({ ...about, ...each })));
  });

  test("an opt-out at Africa's Talking is a STOP to that sender", async () => {
    const world = await worldOf('africastalking', secret);
    await world.call(form({ senderId: 'ALERTE', phoneNumber: '+22670000001' }), at);
    expect(world.sink.texts).toEqual([{ route: 'africastalking', from: '22670000001', to: 'ALERTE', text: 'STOP' }]);
  });

  test('a text from a sender without a number cannot be answered to and is left out', async () => {
    const world = await worldOf('africastalking', secret);
    expect((await world.call(form({ id: '1', from: 'BANK', to: '22600000', text: 'x' }), at)).status).toBe(200);
    expect(world.sink.texts).toEqual([]);
  });

  test('a code of a vendor that hides a number does not get through', async () => {
    const world = await worldOf('africastalking', secret);
    const fields = {
      id: '1',
      status: 'Failed',
      phoneNumber: '+22670000001',
      failureReason: 'To +22670000001 <b>off</b>',
    };
    await world.call(form(fields), at);
    expect(world.sink.received[0]?.error).toBe('To___b_off_b_');
  });

  test('without a signature and a secret nobody answers at all', async () => {
    expect((await worldOf('infobip')).transport.callbacks.size).toBe(0);
    expect([...(await worldOf('twilio', { name: 'twilio-two' })).transport.callbacks.keys()]).toEqual(['twilio-two']);
  });

  test('a vendor that signs may be given a secret path besides', async () => {
    const world = await worldOf('twilio', secret);
    const call = world.double.receipt({ id: 'x', to: '22670000001', status: 'delivered' }, at, world.clock.now());
    expect((await world.call(call, at, { secret: undefined })).status).toBe(404);
    expect((await world.call(call, at)).status).toBe(200);
  });
});
