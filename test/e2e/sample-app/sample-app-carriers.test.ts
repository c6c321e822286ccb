import { readFileSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeGsm7 } from '../../../src/sms/segmentation.js';
import { PLAIN_SHORT_MESSAGE } from '../../../src/transports/smpp/pdu/pdu.js';
import { until } from '../../support/common/until.js';
import { ApiClient } from '../../support/http/api-client.js';
import { type SampleApp, sampleFolder } from '../../support/sample-app/sample-app.js';
import { refusal } from '../../support/sample-app/sample-app-refusal.js';
import { operate, refusedStart, startHere } from '../../support/sample-app/sample-operator.js';
import { GatewayStation } from '../../support/transports/gateway/gateway-station.js';
import { infobipDouble } from '../../support/transports/gateway/infobip-double.js';
import type { DoubleCall } from '../../support/transports/gateway/vendor-double.js';
import { TestSmsc } from '../../support/transports/smsc/test-smsc.js';

const OTP_PEPPER = 'a pepper for tests, 0123456789 abcdef';
const CREDENTIALS_KEY = 'a key for tests, 0123456789 abcdefgh';
const SECRETS = { OTP_PEPPER, CREDENTIALS_KEY };
const SECRET = 'a-secret-path-segment';
const NUMBER = '22670000000';
const SEND = { signature: 'INFOS', content: 'Bonjour !', number: [NUMBER] };

describe('the sample app off the sandbox', () => {
  let folder: string;
  let app: SampleApp | undefined;
  const closing: (() => Promise<void>)[] = [];

  beforeEach(() => {
    folder = sampleFolder();
  });

  afterEach(async () => {
    await app?.kill('SIGKILL');
    app = undefined;
    for (const close of closing.splice(0)) await close();
    rmSync(folder, { recursive: true });
  });

  async function start(env: NodeJS.ProcessEnv): Promise<ApiClient> {
    app = await startHere(folder, { ...SECRETS, ...env });
    expect((await fetch(`${app.url}/sandbox`)).status).toBe(404);
    expect(app.output).toContain(`SMS go out by`);
    return new ApiClient(`${app.url}/api/v1`, 'demo', app.key);
  }
  const becomes = (client: ApiClient, smsId: string, wanted: string) =>
    until(async () => (await client.details(smsId)).recipients.every(({ status }) => status === wanted));

  test('sends SMS over SMPP, and receipts and a STOP come back', async () => {
    const smsc = await TestSmsc.listen({ accounts: { client: 's:cr@t/1-and-longer' } });
    closing.push(() => smsc.close());
    const url = `smpp://client:${encodeURIComponent('s:cr@t/1-and-longer')}@127.0.0.1:${smsc.port}`;
    const client = await start({ SMS_TRANSPORT: 'smpp', SMPP_URL: url, SMPP_WINDOW: '5', SMPP_PARTS_PER_SECOND: '50' });
    const { smsID } = await client.sent(SEND);
    const [submit] = await smsc.submitted(1);
    expect(submit?.pdu.destination.address).toBe(NUMBER);
    await becomes(client, smsID, 'sent');
    expect(await submit?.receipt()).toBe(0);
    await becomes(client, smsID, 'delivered');
    const answer = await smsc.connection.deliver({
      ...PLAIN_SHORT_MESSAGE,
      source: { ton: 1, npi: 1, address: NUMBER },
      destination: { ton: 5, npi: 0, address: 'INFOS' },
      shortMessage: encodeGsm7('Stop'),
    });
    expect(answer.status).toBe(0);
    expect((await client.sent(SEND)).sms_units).toBe(0);
    const operator = async (...args: string[]) =>
      (await operate(folder, args, { SMS_TRANSPORT: 'smpp', SMPP_URL: url, ...SECRETS })).output;
    expect(await operator('optout:list', 'all')).toContain(`"number":"${NUMBER}"`);
    expect(await operator('optout:remove', 'all', 'INFOS', NUMBER)).toContain('{"removed":1}');
    expect(await operator('optout:add', 'demo', 'INFOS', NUMBER, '22670000001')).toContain('{"added":2}');
    await until(async () => (await client.sent(SEND)).sms_units === 0);
  }, 180_000);

  test('sends SMS over an HTTP gateway, which calls back on a secret path', async () => {
    const station = await GatewayStation.open(infobipDouble);
    closing.push(() => station.close());
    const client = await start({
      SMS_TRANSPORT: 'http',
      SMS_HTTP_VENDOR: 'infobip',
      INFOBIP_API_KEY: 'infobip-fixture-key',
      HTTP_BASE_URL: station.server.url,
      PUBLIC_URL: 'https://sms.example.org/',
      CALLBACK_SECRET: SECRET,
    });
    const { smsID } = await client.sent(SEND);
    await becomes(client, smsID, 'sent');
    const [taken] = station.taken;
    expect(taken).toMatchObject({
      to: NUMBER,
      from: 'INFOS',
      text: 'Bonjour !',
      callbackUrl: `https://sms.example.org/api/v1/sms/callbacks/infobip/${SECRET}`,
    });
    const calls = async ({ headers, body }: DoubleCall, secret = SECRET) =>
      (await fetch(`${client.url}/sms/callbacks/infobip/${secret}`, { method: 'POST', headers, body })).status;
    const now = Date.now();
    const receipt = infobipDouble.receipt(
      { id: taken?.ids[0] ?? '', to: NUMBER, status: 'delivered', reference: taken?.reference ?? '' },
      '',
      now,
    );
    expect(await calls(receipt, 'not-the-secret-path')).toBe(404);
    expect(await calls(receipt)).toBe(200);
    await becomes(client, smsID, 'delivered');
    expect(await calls(infobipDouble.inbound({ from: NUMBER, to: 'INFOS', text: 'ARRET' }, '', now))).toBe(200);
    expect((await client.sent(SEND)).sms_units).toBe(0);
  });

  const SMPP = { SMS_TRANSPORT: 'smpp', ...SECRETS };
  const HTTP = { SMS_TRANSPORT: 'http', ...SECRETS };
  test.each<[string, NodeJS.ProcessEnv]>([
    ['SMPP_URL is missing; SMS_TRANSPORT=smpp needs it.', SMPP],
    ['SMPP_URL must be smpp://user:password@host:2775', { ...SMPP, SMPP_URL: 'http://u:hidden@127.0.0.1' }],
    ['SMPP_URL must be smpp://user:password@host:2775', { ...SMPP, SMPP_URL: 'smpp://127.0.0.1:2775' }],
    ['SMPP_WINDOW must be an integer', { ...SMPP, SMPP_URL: 'smpp://u:hidden@127.0.0.1', SMPP_WINDOW: '0' }],
    ['OTP_PEPPER is missing', { SMS_TRANSPORT: 'smpp', SMPP_URL: 'smpp://u:hidden@127.0.0.1' }],
    ['SMS_HTTP_VENDOR is missing; SMS_TRANSPORT=http needs it.', HTTP],
    ['SMS_HTTP_VENDOR must be twilio or vonage', { ...HTTP, SMS_HTTP_VENDOR: 'acme' }],
    [
      'TWILIO_AUTH_TOKEN is missing; SMS_HTTP_VENDOR=twilio needs it.',
      { ...HTTP, SMS_HTTP_VENDOR: 'twilio', TWILIO_ACCOUNT_SID: 'AC1' },
    ],
  ])('%s', (sentence, env) => {
    expect(refusal(env)).toContain(sentence);
    expect(refusal(env)).not.toContain('hidden');
  });

  test('starts on each vendor with the settings that the README names for it', () => {
    const readme = readFileSync('README.md', 'utf8');
    const rows = [...readme.matchAll(/^\| `([a-z]+)` \| [^|]+ \| ([^|]+) \|$/gm)].filter(([row]) => /_[A-Z]/.test(row));
    expect(rows.map(([, vendor]) => vendor)).toEqual(['smsgate', 'httpsms', 'textbee', 'kannel', 'jasmin', 'mtn']);
    for (const [, vendor, settings = ''] of rows) {
      const names = [...settings.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
      const exampleOf = (name: string) => {
        if (name.endsWith('_FROM')) return '22670990000';
        return name === 'HTTP_BASE_URL' ? 'http://127.0.0.1:13013' : 'a-value';
      };
      const env = {
        ...HTTP,
        SMS_HTTP_VENDOR: vendor,
        ...Object.fromEntries(names.map((name) => [name, exampleOf(name)])),
      };
      expect([vendor, refusal(env)]).toEqual([vendor, 'nothing is refused']);
      for (const name of names) {
        expect(refusal({ ...env, [name]: '' })).toContain(`${name} is missing; SMS_HTTP_VENDOR=${vendor} needs it.`);
      }
    }
  });

  test('Option infobip.baseUrl must be an https:// URL', async () => {
    const env = {
      ...HTTP,
      SMS_HTTP_VENDOR: 'infobip',
      INFOBIP_API_KEY: 'hidden',
      HTTP_BASE_URL: 'http://sms.example.org',
    };
    const { code, output } = await refusedStart(folder, env);
    expect(code).toBe(1);
    expect(output).toContain('Option infobip.baseUrl must be an https:// URL');
    expect(output).not.toContain('hidden');
    expect(output).not.toContain(' at ');
  });
});
