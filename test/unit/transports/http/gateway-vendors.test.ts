import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { jasmin } from '../../../../src/transports/http/vendors/jasmin.js';
import { kannel } from '../../../../src/transports/http/vendors/kannel.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import {
  anSms,
  CALLBACK_SECRET,
  type FixtureOptions,
  GatewayFixture,
} from '../../../support/transports/gateway/gateway-fixture.js';
import { jasminDouble, jasminReceipt } from '../../../support/transports/gateway/jasmin-double.js';
import { kannelDouble } from '../../../support/transports/gateway/kannel-double.js';
import { mtnDouble } from '../../../support/transports/gateway/mtn-double.js';
import { json, type VendorDouble } from '../../../support/transports/gateway/vendor-double.js';

const opened = closeAfterEach();
const LOGIN = { username: 'u', password: 'p' };

beforeAll(() => Logger.overrideLogger(false));

const open = async (double: VendorDouble, over: FixtureOptions = {}) => {
  const callbackUrl = `https://sms.example.org/callbacks/${double.name}`;
  const fixture = opened(await GatewayFixture.open(double, { callbackUrl, callbackSecret: CALLBACK_SECRET, ...over }));
  return { fixture, url: `${callbackUrl}/${CALLBACK_SECRET}` };
};

describe.each([
  ['Kannel', { ...kannelDouble, vendor: (baseUrl: string) => kannel({ ...LOGIN, baseUrl }) }, 1],
  ['Jasmin', { ...jasminDouble, vendor: (baseUrl: string) => jasmin({ ...LOGIN, baseUrl }) }, 5],
] as const)('a text that %s would cut', (_, double, most) => {
  test('is refused without asking, and the longest that it takes is sent', async () => {
    const { fixture } = await open({ ...double, read: () => ({ to: '22670000001', from: 'x', text: 'x' }) });
    const longest = 'a'.repeat(most === 1 ? 160 : most * 153);
    const [whole, cut] = await fixture.submit(anSms({ text: longest }), anSms({ position: 1, text: `${longest}a` }));
    expect(whole?.kind).toBe('sent');
    expect(cut).toEqual({ kind: 'refused', error: 'too_long', unasked: true });
    expect(fixture.asked).toBe(1);
  });
});

describe('Kannel', () => {
  test.each([
    [202, '0: Accepted for delivery', 'sent', undefined],
    [202, '3: Queued for later delivery', 'sent', undefined],
    [202, '<html>Accepted</html>', 'unknown', 'malformed_answer'],
    [200, '0: Accepted for delivery', 'unknown', 'malformed_answer'],
    [202, '', 'unknown', 'malformed_answer'],
    [400, 'Empty receiver number not allowed, rejected', 'refused', 'http_400'],
    [403, 'Not routable. Do not try again.', 'refused', 'not_routable'],
    [403, 'Authorization failed for sendsms', 'retry', 'http_403'],
    [503, 'Temporal failure, try again later.', 'retry', 'http_503'],
  ])('%i %s', async (status, text, kind, error) => {
    const { fixture } = await open(kannelDouble);
    fixture.server.next({ status, headers: { 'content-type': 'text/html' }, body: text });
    const [result] = await fixture.submit();
    expect(result?.kind).toBe(kind);
    expect(result?.error).toBe(error);
    // Taken or in doubt: a report by our reference finds it.
    const isOpen = kind === 'sent' || kind === 'unknown';
    expect(result?.carrierIds).toEqual(isOpen ? ['sms-1.0.1'] : undefined);
  });

  test('gets lifetime, priority and the SMSC', async () => {
    const vendor = (baseUrl: string) => kannel({ ...LOGIN, smsc: 'orange-bf', baseUrl });
    const { fixture } = await open({
      ...kannelDouble,
      vendor,
      read: () => ({ to: '22670000001', from: 'x', text: 'x' }),
    });
    await fixture.submit(anSms({ priority: 'code', expiresAt: fixture.clock.now() + 299_999 }));
    await fixture.submit(anSms({ expiresAt: fixture.clock.now() + 1000 }));
    await fixture.submit(anSms());
    const queries = fixture.server.requests.map(({ path }) => new URL(path, 'http://kannel').searchParams);
    const asked = queries.map((query) => ['priority', 'validity', 'smsc'].map((name) => query.get(name)));
    expect(asked).toEqual([
      ['3', '4', 'orange-bf'],
      [null, '1', 'orange-bf'],
      [null, null, 'orange-bf'],
    ]);
  });

  test.each([
    ['1', 'delivered'],
    ['2', 'undelivered'],
    ['34', 'undelivered'],
    ['16', 'failed'],
    ['8', undefined],
    ['4', undefined],
    ['12', undefined],
    ['x', undefined],
    ['-1', undefined],
    ['1e9', undefined],
  ])('its number %s is %s', async (state, status) => {
    const { fixture, url } = await open(kannelDouble);
    const query = new URLSearchParams({ ref: 'sms-1.0.1', state }).toString();
    expect((await fixture.call({ method: 'GET', query, headers: {}, body: '' }, url)).status).toBe(200);
    const statuses = [...fixture.sink.reported, ...fixture.sink.received].map((each) => each.status);
    expect(new Set(statuses)).toEqual(new Set(status === undefined ? [] : [status]));
  });

  test('a text in UTF-16 is read by the charset that Kannel names', async () => {
    const { fixture, url } = await open(kannelDouble);
    const octets = [...Buffer.from('أوقف', 'utf16le').swap16()].map((each) => `%${each.toString(16).padStart(2, '0')}`);
    const query = `id=1&from=%2B22670000001&to=36200&text=${octets.join('')}&charset=UTF-16BE`;
    expect((await fixture.call({ method: 'GET', query, headers: {}, body: '' }, url)).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ from: '22670000001', to: '36200', text: 'أوقف' }]);
  });
});

describe('Jasmin', () => {
  test('gets exactly its acknowledgement, for a receipt and for a text', async () => {
    const { fixture, url } = await open(jasminDouble);
    const acknowledged = { status: 200, body: 'ACK/Jasmin', contentType: 'text/plain' };
    expect(await fixture.call(jasminReceipt('id-1', 'DELIVRD'), url)).toEqual(acknowledged);
    const text = jasminDouble.inbound({ from: '22670000001', to: '36200', text: 'x' }, url, 0);
    expect(await fixture.call(text, url)).toEqual(acknowledged);
  });

  test.each([
    ['ESME_ROK', { level: '1' }, undefined, undefined],
    ['ESME_RINVDSTADR', { level: '1' }, 'failed', 'ESME_RINVDSTADR'],
    ['DELIVRD', {}, 'delivered', undefined],
    ['UNDELIV', { err: '034' }, 'undelivered', 'UNDELIV_034'],
    ['EXPIRED', {}, 'undelivered', 'EXPIRED'],
    ['REJECTD', { err: '0' }, 'failed', 'REJECTD'],
    ['ACCEPTD', {}, undefined, undefined],
    ['UNKNOWN', {}, 'unknown', 'UNKNOWN'],
    ['BRANDNEW', {}, undefined, undefined],
    ['', {}, undefined, undefined],
  ])('message_status %j', async (state, over, status, error) => {
    const { fixture, url } = await open(jasminDouble);
    const answer = await fixture.call(jasminReceipt('id-1', state, { reference: 'sms-1.0.1', ...over }), url);
    // A receipt without a state is neither a receipt nor a text.
    expect(answer.status).toBe(state === '' ? 400 : 200);
    const known = fixture.sink.received.map((each) => ({ status: each.status, error: each.error }));
    const reported = fixture.sink.reported.filter((each) => each.status === 'delivered');
    if (status === 'delivered') expect(reported).toEqual([{ smsId: 'sms-1', position: 0, status }]);
    else expect(known).toEqual(status === undefined ? [] : [{ status, error }]);
  });

  test.each([
    ['0', '53746f70', 'Stop'],
    // GSM-7 in octets: 0x05 is é, 0x1b 0x65 is the euro sign.
    ['0', '4172725b1b6520', 'ArrÄ€ '],
    ['3', '4152 52ca54'.replaceAll(' ', ''), 'ARRÊT'],
    ['8', '00e90074d83dde00', 'ét😀'],
    ['8', '', ''],
    ['4', 'ffff', ''],
    // Jasmin 0.11 sends the octet itself.
    ['%00', '4172725b1b6520', 'ArrÄ€ '],
    ['%01', '5174e9', 'Qté'],
    ['%08', '0627064400310021', 'ال1!'],
    ['%18', '06270644', 'ال'],
    ['%F1', '53746f70', 'Stop'],
  ])('a text in data_coding %s, %s, is %j', async (coding, binary, text) => {
    const { fixture, url } = await open(jasminDouble);
    // Jasmin sends the octets in `content` too, which are not valid UTF-8.
    const octets = [...Buffer.from(binary, 'hex')].map((each) => `%${each.toString(16).padStart(2, '0')}`).join('');
    const body = `id=m1&from=22670000001&to=36200&origin-connector=in&coding=${coding}&binary=${binary}&content=${octets}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await fixture.call({ headers, body }, url)).body).toBe('ACK/Jasmin');
    expect(fixture.sink.texts).toEqual([{ route: 'jasmin', id: 'm1', from: '22670000001', to: '36200', text }]);
  });

  test.each([
    [200, 'Success "07033084-5cfd-4812-90a4-e4d24ffb6e3d"', 'sent', undefined],
    [200, '<html>Success</html>', 'unknown', 'malformed_answer'],
    [200, 'Success "', 'unknown', 'malformed_answer'],
    [403, 'Error "Authentication failure for username:u"', 'retry', 'http_403'],
    [403, 'Error "User throughput exceeded"', 'retry', 'throughput'],
    [412, 'Error "No route found"', 'refused', 'no_route'],
    [412, 'Error "Failover route has no bound connectors"', 'retry', 'not_bound'],
    [400, 'Error "Authorization failed for user [u] (Can not set priority)."', 'retry', 'not_authorized'],
    [400, 'Error "Argument [to] has an invalid value: [x]."', 'refused', 'http_400'],
    [500, 'Error "Cannot send submit_sm, check SMPPClientManagerPB log file for details"', 'unknown', 'http_500'],
  ])('%i %s', async (status, text, kind, error) => {
    const { fixture } = await open(jasminDouble);
    fixture.server.next({ status, headers: { 'content-type': 'text/plain' }, body: text });
    const [result] = await fixture.submit();
    expect({ kind: result?.kind, error: result?.error }).toEqual({ kind, error });
  });

  test('gets lifetime and priority', async () => {
    const { fixture } = await open({ ...jasminDouble, read: () => ({ to: '22670000001', from: 'x', text: 'x' }) });
    await fixture.submit(anSms({ priority: 'high', expiresAt: fixture.clock.now() + 600_000 }));
    const form = new URLSearchParams(fixture.server.requests[0]?.body);
    expect(['priority', 'validity-period', 'dlr-level', 'dlr-method'].map((name) => form.get(name))).toEqual([
      '2',
      '10',
      '3',
      'POST',
    ]);
  });
});

describe('MTN', () => {
  test.each([
    ['DELIVRD', 'delivered'],
    ['EXPIRED', 'undelivered'],
    ['DeliveryUncertain', 'unknown'],
    ['DeliveredToNetwork', 'sent'],
    ['MessageWaiting', undefined],
  ])('%s', async (state, status) => {
    const { fixture, url } = await open(mtnDouble);
    expect((await fixture.call(mtnDouble.underWay('mtn-1', url, 0, state), url)).status).toBe(200);
    expect(fixture.sink.received.map((each) => each.status)).toEqual(status === undefined ? [] : [status]);
  });

  test('an answer of success without an id is found by our reference', async () => {
    const { fixture, url } = await open(mtnDouble);
    fixture.server.next(json(200, { statusCode: '0000' }));
    expect(await fixture.submit()).toEqual([{ kind: 'sent', carrierIds: ['sms-1.0.1'] }]);
    const body = JSON.stringify({ TransactionID: null, clientCorrelator: 'sms-1.0.1', deliveryStatus: 'EXPIRED' });
    await fixture.call({ headers: { 'content-type': 'application/json' }, body }, url);
    expect(fixture.sink.received[0]).toMatchObject({ status: 'undelivered' });
    expect(fixture.sink.received[0]?.ids[0]).toBe('sms-1.0.1');
  });

  test('two texts with the same words have different ids, and a repeat has the same', async () => {
    const { fixture, url } = await open(mtnDouble);
    const text = (created: number) => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ senderAddress: '22670000001', receiverAddress: '2020', message: 'Oui', created }),
    });
    for (const created of [1, 1, 2]) await fixture.call(text(created), url);
    const [one, repeat, other] = fixture.sink.texts.map(({ id }) => id);
    expect(repeat).toBe(one);
    expect(other).not.toBe(one);
  });
});
