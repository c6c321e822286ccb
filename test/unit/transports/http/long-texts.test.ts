import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { partOfHeader } from '../../../../src/sms/inbound/part-place.js';
import { partPlace } from '../../../../src/sms/sms-transport.js';
import type { VendorCallback } from '../../../../src/transports/http/vendor.js';
import { generic } from '../../../../src/transports/http/vendors/generic.js';
import { vonage } from '../../../../src/transports/http/vendors/vonage.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { CALLBACK_SECRET, GatewayFixture } from '../../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../../support/transports/gateway/generic-double.js';
import { vonageDouble } from '../../../support/transports/gateway/vonage-double.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

const secret = { callbackUrl: 'https://sms.example.org/cb', callbackSecret: CALLBACK_SECRET };
const at = `https://sms.example.org/cb/${CALLBACK_SECRET}`;
const PHONE = { msisdn: '22670000001', to: '36111', type: 'text' };

/** Vonage with a secret path instead of a signature. */
async function vonageFixture() {
  const vendor = (baseUrl: string) => vonage({ apiKey: 'k', apiSecret: 's', baseUrl });
  const fixture = opened(await GatewayFixture.open({ ...vonageDouble, vendor }, secret));
  let id = 0;
  /** A call of Vonage's, by GET, as it calls by default. */
  const says = (text: string, fields: Readonly<Record<string, string>> = {}) => {
    const query = new URLSearchParams({ ...PHONE, messageId: `0B${++id}`, text, ...fields }).toString();
    return fixture.call({ headers: {}, body: '', query }, at, { method: 'GET' });
  };
  const part = (text: string, number: number, total = 3, ref = '7') =>
    says(text, { concat: 'true', 'concat-ref': ref, 'concat-total': String(total), 'concat-part': String(number) });
  return { fixture, says, part };
}

describe('a long text that Vonage sends in parts', () => {
  test('arrives part by part, each with its position', async () => {
    const { fixture, part } = await vonageFixture();
    for (const [text, number] of [
      ['stop', 3],
      ['Bonjour, ', 1],
    ] as const) {
      expect((await part(text, number)).status).toBe(200);
    }
    const phone = { route: 'vonage', from: '22670000001', to: '36111', id: expect.any(String) };
    expect(fixture.sink.texts).toEqual([
      { ...phone, text: 'stop', part: { reference: '7', total: 3, number: 3 } },
      { ...phone, text: 'Bonjour, ', part: { reference: '7', total: 3, number: 1 } },
    ]);
  });

  test('is not acknowledged before its part is stored', async () => {
    const { fixture, part } = await vonageFixture();
    fixture.sink.store = () => Promise.reject(new Error('away'));
    await expect(part('a', 1, 2)).rejects.toThrow('away');
    fixture.sink.store = async () => undefined;
    expect((await part('a', 1, 2)).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ text: 'a' }]);
  });

  test.each([
    [{ concat: 'true' }],
    [{ concat: 'true', 'concat-ref': '1', 'concat-total': '1', 'concat-part': '1' }],
    [{ concat: 'true', 'concat-ref': '1', 'concat-total': '2', 'concat-part': '3' }],
    [{ concat: 'true', 'concat-ref': '1', 'concat-total': '2', 'concat-part': '0' }],
    [{ concat: 'true', 'concat-ref': '1', 'concat-total': 'two', 'concat-part': '1' }],
    [{ concat: 'false' }],
  ])('counts as a whole text if its fields give no position: %j', async (fields) => {
    const { fixture, says } = await vonageFixture();
    await says('STOP', fields);
    expect(fixture.sink.texts).toMatchObject([{ text: 'STOP' }]);
    expect(fixture.sink.texts[0]).not.toHaveProperty('part');
  });
});

test('a gateway that the host describes passes on the header of the parts', async () => {
  const read: VendorCallback['read'] = (content) => {
    const [from, to, text] = [content.field('from'), content.field('to'), content.field('text')];
    if (from === undefined || to === undefined) return undefined;
    return { inbound: [{ from, to, text: text ?? '', part: partOfHeader(content.field('udh')) }] };
  };
  const vendor = (baseUrl: string) => generic({ ...genericDouble.vendor(baseUrl), callback: { read } });
  const fixture = opened(await GatewayFixture.open({ ...genericDouble, vendor }, secret));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const says = (fields: Record<string, string>) =>
    fixture.call(
      { headers, body: new URLSearchParams({ from: '22670000001', to: '36111', ...fields }).toString() },
      at,
    );
  await says({ text: 'op', udh: '050003A70202' });
  await says({ text: 'STOP' });
  await says({ text: 'st', udh: '05 00 03 a7 02 01' });
  const place = (number: number) => ({ reference: '8:167', total: 2, number });
  expect(fixture.sink.texts.map(({ text, part }) => [text, part])).toEqual([
    ['op', place(2)],
    ['STOP', undefined],
    ['st', place(1)],
  ]);
});

test.each([
  ['050003A70201', partPlace('8:167', 2, 1)],
  ['%05%00%03%A7%02%01', partPlace('8:167', 2, 1)],
  ['06080412340302', partPlace('16:4660', 3, 2)],
  // The header's element comes after another element.
  ['0905040B8423F0000301', undefined],
  ['0B05040B8423F000030A0302', partPlace('8:10', 3, 2)],
  ['050003A70101', undefined],
  ['050003A70203', undefined],
  ['05000', undefined],
  ['', undefined],
  [undefined, undefined],
  ['not hex', undefined],
])('the header %s', (hex, place) => {
  expect(partOfHeader(hex)).toEqual(place);
});
