import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type HttpSmsOptions, resolveGatewaySettings } from '../../../../src/transports/http/http-sms-options.js';
import { africasTalking } from '../../../../src/transports/http/vendors/africas-talking.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { CALLBACK_SECRET, DOUBLES, GatewayFixture } from '../../../support/transports/gateway/gateway-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const opened = closeAfterEach();
const AT = `https://sms.example.org/api/v1/sms/callbacks/africastalking/${CALLBACK_SECRET}`;

/** A gateway that writes the number of a phone as it is given. */
async function gateway(options: Partial<HttpSmsOptions> = {}) {
  const double = DOUBLES.find(({ name }) => name === 'africastalking');
  if (!double) throw new Error('There is no such double.');
  const fixture = opened(await GatewayFixture.open(double, { callbackSecret: CALLBACK_SECRET, ...options }));
  const says = (from: string) =>
    fixture.call(
      {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ id: '1', from, to: '36111', text: 'STOP' }).toString(),
      },
      AT,
    );
  return { fixture, says };
}

const EVERYWHERE = [
  '22670000001',
  '+22670000001',
  '0022670000001',
  '+226 70 00 00 01',
  '+226\u00a070-00.00(01)',
  ' 22670000001 ',
  'tel:+22670000001',
  'whatsapp:+22670000001',
  '+٢٢٦٧٠٠٠٠٠٠١',
];

describe('the number of a phone', () => {
  test.each(EVERYWHERE)('is read from %j', async (from) => {
    const { fixture, says } = await gateway();
    expect((await says(from)).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ from: '22670000001', text: 'STOP' }]);
    expect(fixture.sink.unread_).toEqual([]);
  });

  test.each([...EVERYWHERE, '70000001', '070000001', '70 00 00 01'])('is read from %j if home is BF', async (from) => {
    const { fixture, says } = await gateway({ home: 'BF' });
    expect((await says(from)).status).toBe(200);
    expect(fixture.sink.texts).toMatchObject([{ from: '22670000001', text: 'STOP' }]);
  });

  test.each([
    [' 3546111234', 'US', '3546111234'],
    ['3546111234', 'US', '13546111234'],
    [' 22670000001', 'US', '22670000001'],
    [' 70000001', 'BF', '22670000001'],
    [' 9876543210', 'IN', '919876543210'],
  ])(
    'is read with a blank as an unescaped plus sign if that gives a number: %j at home in %s',
    async (from, home, number) => {
      const { fixture, says } = await gateway({ home });
      await says(from);
      expect(fixture.sink.texts).toMatchObject([{ from: number }]);
    },
  );

  test.each(['70000001', '070000001', '+70000001', '22670000001x+', '2267000000'])(
    'is not guessed from %j: the text is counted, not stored',
    async (from) => {
      const { fixture, says } = await gateway();
      expect((await says(from)).status).toBe(200);
      expect(fixture.sink.texts).toEqual([]);
      expect(fixture.sink.unread_).toEqual([`africastalking ${from}`]);
    },
  );

  test('may be a short code or a name, which cannot opt out', async () => {
    const { fixture, says } = await gateway();
    await says('36111');
    await says('BANK');
    expect([fixture.sink.texts, fixture.sink.unread_]).toEqual([[], []]);
  });

  test('refuses at the start a home that is not a country', () => {
    const vendor = africasTalking({ username: 'acme', apiKey: 'key' });
    expect(() => resolveGatewaySettings({ vendor, callbackSecret: CALLBACK_SECRET, home: 'Burkina' })).toThrow(
      'Option http.home must be a country code of ISO 3166, two capital letters such as BF.',
    );
  });
});
