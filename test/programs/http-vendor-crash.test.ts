import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/common/eventually.js';
import { makeAccount } from '../support/crash/crash-loop.js';
import { CrashProcess, type CrashSettings } from '../support/crash/crash-process.js';
import { SqliteFile } from '../support/databases/sqlite-file.js';
import { ApiClient, type Details } from '../support/http/api-client.js';
import { CALLBACK_SECRET } from '../support/transports/gateway/gateway-fixture.js';
import { GatewayStation } from '../support/transports/gateway/gateway-station.js';
import { httpsmsDouble } from '../support/transports/gateway/httpsms-double.js';
import { jasminDouble } from '../support/transports/gateway/jasmin-double.js';
import { kannelDouble } from '../support/transports/gateway/kannel-double.js';
import { mtnDouble } from '../support/transports/gateway/mtn-double.js';
import { smsgateDouble } from '../support/transports/gateway/smsgate-double.js';
import { textbeeDouble } from '../support/transports/gateway/textbee-double.js';
import { json, type VendorDouble } from '../support/transports/gateway/vendor-double.js';

const LIMIT_MS = 120_000;
const NUMBER = '22670000001';
const UNITS = 100;

type Name = NonNullable<CrashSettings['vendor']>['name'];

describe('kill -9 between the hand-over to a vendor and its answer', () => {
  const open: { close(): Promise<void> | void }[] = [];
  const opened = <T extends { close(): Promise<void> | void }>(each: T): T => {
    open.push(each);
    return each;
  };

  /** Kills a host while the vendor holds its answer to one SMS, and starts it again. */
  const killed = async (double: VendorDouble, name: Name, more: Readonly<Record<string, unknown>> = {}) => {
    const station = opened(await GatewayStation.open(double));
    const file = opened(new SqliteFile());
    const database = `sqlite:${file.path}`;
    const { accountId, key } = await makeAccount(database, UNITS);
    const callbackUrl = `https://sms.example.org/api/v1/sms/callbacks/${name}`;
    const options = { ...double.options, ...more, baseUrl: station.server.url };
    const host = opened(
      new CrashProcess({ database, vendor: { name, options, callbackUrl, callbackSecret: CALLBACK_SECRET } }),
    );
    await host.start().answering;
    let fates = 0;
    station.fateOf = () => (fates++ === 0 ? 'held' : json(409, { message: 'message with the same ID already exists' }));
    const sender = new ApiClient(`${host.url}/api/v1`, accountId, key);
    const { smsID } = await sender.sent({ signature: 'INFOS', content: 'Bonjour', number: [NUMBER] });
    await eventually(
      () => station.taken.length,
      (taken) => taken === 1,
    );
    await host.end('SIGKILL');
    await host.start().answering;
    const client = new ApiClient(`${host.url}/api/v1`, accountId, key);
    const becomes = (wanted: string): Promise<Details> =>
      eventually(
        () => client.details(smsID),
        ({ recipients }) => recipients.every(({ status }) => status === wanted),
      );
    /** The vendor reports on the SMS that it took. */
    const report = async (status: 'delivered' | 'undelivered') => {
      const { ids = [], reference } = station.taken[0] ?? {};
      const url = `${callbackUrl}/${CALLBACK_SECRET}`;
      const known = reference === undefined ? {} : { reference };
      const call = double.receipt({ id: ids[0] ?? '', to: NUMBER, status, ...known }, url, Date.now());
      const query = call.query ? `?${call.query}` : '';
      const path = `${host.url}/api/v1/sms/callbacks/${name}/${CALLBACK_SECRET}${query}`;
      const { method = 'POST', headers, body } = call;
      return fetch(path, method === 'GET' ? { method, headers } : { method, headers, body });
    };
    return { station, client, becomes, report };
  };

  // The hosts start, die and start again together, because each of them mostly waits for the end of a lease.
  let scenes: Readonly<Record<Name | 'one phone', Awaited<ReturnType<typeof killed>>>>;
  beforeAll(async () => {
    const [onePhone, smsgate, httpsms, textbee, kannel, jasmin, mtn] = await Promise.all([
      killed(smsgateDouble, 'smsgate', { deviceId: 'phone-1' }),
      killed(smsgateDouble, 'smsgate'),
      killed(httpsmsDouble, 'httpsms'),
      killed(textbeeDouble, 'textbee'),
      killed(kannelDouble, 'kannel'),
      killed(jasminDouble, 'jasmin'),
      killed(mtnDouble, 'mtn'),
    ]);
    scenes = { 'one phone': onePhone, smsgate, httpsms, textbee, kannel, jasmin, mtn };
  }, LIMIT_MS);
  afterAll(async () => {
    for (const each of open.reverse()) await each.close();
  });

  test(
    'SMSGate with one phone gets the SMS again under its id, and its 409 counts as accepted: delivered once, paid once',
    async () => {
      const { station, client, becomes, report } = scenes['one phone'];
      await becomes('sent');
      const ids = station.server.requests.map(({ body }) => JSON.parse(body).id);
      expect(new Set(ids).size).toBe(1);
      expect(ids).toHaveLength(2);
      for (let time = 0; time < 2; time++) expect((await report('delivered')).status).toBe(200);
      await becomes('delivered');
      expect(await client.balance()).toBe(UNITS - 1);
    },
    LIMIT_MS,
  );

  test.each<[Name, string, number]>([
    // A pool of phones, of which the server may give a repeat to another one.
    ['smsgate', 'undelivered', 0],
    ['httpsms', 'failed', 1],
    ['kannel', 'undelivered', 0],
    ['jasmin', 'undelivered', 0],
    ['mtn', 'undelivered', 0],
  ])(
    '%s gets the SMS once, and its report by our reference settles what the crash left unknown',
    async (name, status, refunded) => {
      const { station, client, becomes, report } = scenes[name];
      await becomes('unknown');
      expect(station.asked).toBe(1);
      for (let time = 0; time < 2; time++) expect((await report('undelivered')).status).toBe(200);
      await becomes(status);
      expect(await client.balance()).toBe(UNITS - 1 + refunded);
      // Nothing that comes later changes it.
      await report('delivered');
      await becomes(status);
      expect(station.asked).toBe(1);
    },
    LIMIT_MS,
  );

  test(
    'textbee gets the SMS once, and without our reference in its report it stays unknown, and paid for',
    async () => {
      const { station, client, becomes, report } = scenes.textbee;
      await becomes('unknown');
      expect((await report('undelivered')).status).toBe(200);
      await becomes('unknown');
      expect(station.asked).toBe(1);
      expect(await client.balance()).toBe(UNITS - 1);
    },
    LIMIT_MS,
  );
});
