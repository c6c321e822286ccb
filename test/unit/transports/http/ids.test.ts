import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { messageIds } from '../../../../src/sms/receipts/message-ids.js';
import type { HttpSmsOptions } from '../../../../src/transports/http/index.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { CALLBACK_SECRET, GatewayFixture } from '../../../support/transports/gateway/gateway-fixture.js';
import { genericDouble } from '../../../support/transports/gateway/generic-double.js';

const URL = `https://sms.example.org/api/v1/sms/callbacks/acme/${CALLBACK_SECRET}`;
const UUID = '0e999f21-5a4c-4e0e-8d1c-0a1b2c3d4e5f';

beforeAll(() => Logger.overrideLogger(false));

describe('ids over HTTP', () => {
  const opened = closeAfterEach();
  const open = async (options: Partial<HttpSmsOptions> = {}) =>
    opened(await GatewayFixture.open(genericDouble, { callbackSecret: CALLBACK_SECRET, ...options }));
  const json = (body: string) => ({ headers: { 'content-type': 'application/json' }, body });

  /** The ids that are stored for the body of an answer, and those that are looked up for the body of a callback. */
  const idsOf = async (answer: string, callback: string, options: Partial<HttpSmsOptions> = {}) => {
    const fixture = await open(options);
    fixture.server.next({ status: 202, body: answer });
    const [result] = await fixture.submit();
    expect((await fixture.call(json(callback), URL)).status).toBe(204);
    return { kind: result?.kind, given: result?.carrierIds ?? [], named: fixture.sink.received[0]?.ids ?? [] };
  };

  test.each([
    ['{"id":9308878062554710043}', '{"id":9308878062554710043,"state":"UNDELIV"}'],
    ['{"id":9308878062554710043}', '{"id":"9308878062554710043","state":"DELIVRD"}'],
    ['{"id":"9308878062554710043"}', '{"state":"DELIVRD","id":9.308878062554710043E18}'],
    ['{"id":27}', '{"id":"0000000027","state":"DELIVRD"}'],
    ['{"id":"0000000027"}', '{"id":27,"state":"DELIVRD"}'],
    ['{"id":" 7F\\r\\n"}', '{"id":"7f","state":"DELIVRD"}'],
    [`{"id":"${UUID.toUpperCase()}"}`, `{"id":"${UUID}\\n","state":"DELIVRD"}`],
    [`{"id":"${'x'.repeat(300)}"}`, `{"id":"${'x'.repeat(300)}","state":"DELIVRD"}`],
  ])('%s matches %s', async (answer, callback) => {
    const { kind, given, named } = await idsOf(answer, callback);
    expect(kind).toBe('sent');
    expect(named).toContain(given[0]);
  });

  test.each([
    ['hex-then-decimal', '"812FC7470000001B"', '9308878062554710043'],
    ['decimal-then-hex', '9308878062554710043', '"812fc7470000001b"'],
  ] as const)('%s: %s is %s', async (format, answered, received) => {
    const bodies = [`{"id":${answered}}`, `{"id":${received},"state":"UNDELIV"}`] as const;
    const { given, named } = await idsOf(...bodies, { messageIds: format });
    expect(named).toContain(given[0]);
    const other = await idsOf(...bodies);
    expect(other.named).not.toContain(other.given[0]);
  });

  test('two ids that JavaScript would round to the same number stay different', async () => {
    const { given, named } = await idsOf('{"id":9308878062554710042}', '{"id":9308878062554710043,"state":"UNDELIV"}');
    expect(given).toEqual(['9308878062554710042']);
    expect(named).toEqual(messageIds(['9308878062554710043'], 'same'));
  });

  test.each(['0', '""', 'null', '"null"', 'false', '"0"', '[]', '{}', '"   "', '["a"]'])(
    '%s is not an id: the SMS is in doubt, and a receipt with it matches nothing',
    async (id) => {
      const { kind, named } = await idsOf(`{"id":${id}}`, '{"id":"0","state":"DELIVRD"}');
      expect([kind, named]).toEqual(['unknown', []]);
    },
  );

  test('the id of a text from a phone keeps its digits too', async () => {
    const fixture = await open();
    const text = { from: '22670000001', to: '22600000', text: 'Oui' };
    const body = JSON.stringify({ ...text, id: 'ID' }).replace('"ID"', '9308878062554710043');
    expect((await fixture.call(json(body), URL)).status).toBe(204);
    expect(fixture.sink.texts).toEqual([{ route: 'acme', ...text, id: '9308878062554710043' }]);
  });
});
