import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';
import { LedgerService } from '../../src/billing/ledger-service.js';
import { closeAfterEach } from '../support/common/opened.js';
import { until } from '../support/common/until.js';
import type { ApiClient, Details } from '../support/http/api-client.js';
import { type Service, startService } from '../support/mounting/services.js';
import { hasNetSmpp, NetSmpp, type NetSmppScript } from '../support/transports/carriers/net-smpp.js';

const OVER = ['delivered', 'undelivered', 'failed', 'unknown'];
const suite = hasNetSmpp() ? describe : describe.skip;

suite.each(['express', 'fastify'] as const)('a service (%s) whose carrier is Net::SMPP', (adapter) => {
  const opened = closeAfterEach();

  beforeAll(() => Logger.overrideLogger(false));

  async function start(script: NetSmppScript): Promise<{ smsc: NetSmpp; service: Service }> {
    const smsc = opened(await NetSmpp.start({ answerIds: 'hex', ...script }));
    const account = { host: '127.0.0.1', port: smsc.port, systemId: 'client', password: 'secret' };
    const quick = { reconnectMs: 10, reconnectMaxMs: 50, throttlePauseMs: 1 };
    const links = [{ ...account, ...quick, messageIds: 'hex-then-decimal' as const }];
    const service = await startService(adapter, {
      sms: { tariff: { base: 1, international: 3, home: 'BF' }, transport: SmppSmsTransport.forRoot({ links }) },
    });
    return { smsc, service: opened(service) };
  }

  const send = (client: ApiClient, content: string, phones: number) => {
    const number = Array.from({ length: phones }, (_, index) => String(22_670_000_000 + index));
    return client.sent({ signature: 'INFOS', content, number });
  };

  const end = (client: ApiClient, { smsID }: { readonly smsID: string }): Promise<Details> =>
    until(
      () => client.details(smsID),
      ({ recipients }) => recipients.every(({ status }) => OVER.includes(status)),
      25_000,
    );

  const checkLedger = (service: Service) => service.app.get(LedgerService, { strict: false }).checkLedger();

  test('delivers what is sent, of one part and of three', async () => {
    const { smsc, service } = await start({});
    const client = await service.client(100);
    const texts = ['Bonjour', `${'a'.repeat(152)}€${'b'.repeat(152)}`];
    for (const text of texts) {
      const { recipients } = await end(client, await send(client, text, 5));
      expect(recipients.map(({ status }) => status)).toEqual(Array(5).fill('delivered'));
    }
    await smsc.caughtUp();
    expect(smsc.all('submit')).toHaveLength(5 + 15);
    expect(await client.balance()).toBe(100 - 5 - 15);
    expect(await checkLedger(service)).toEqual([]);
  });

  test('survives all faults at once: each SMS ends as delivered or unknown, none is submitted twice, and the ledger is correct', async () => {
    const { smsc, service } = await start({ throttleEvery: 5, dropEvery: 43, garbageEvery: 61, enquireEvery: 10 });
    const client = await service.client(500);
    const { smsID } = await end(client, await send(client, 'Bonjour', 400));
    const recipients = await until(
      () => client.recipients(smsID),
      (all) => all.every(({ status }) => OVER.includes(status)),
    );
    const of = (wanted: string) => recipients.filter(({ status }) => status === wanted).map(({ number }) => number);
    expect(of('delivered').length + of('unknown').length).toBe(400);
    await smsc.caughtUp();
    const times = smsc.takenTimes();
    expect(Math.max(...times.values())).toBe(1);
    expect(of('delivered').filter((number) => !times.has(number))).toEqual([]);
    expect(smsc.count('throttled')).toBeGreaterThanOrEqual(80);
    expect(smsc.count('dropped')).toBeGreaterThanOrEqual(8);
    expect(smsc.count('garbage')).toBeGreaterThanOrEqual(4);
    expect(of('unknown').length).toBeGreaterThanOrEqual(smsc.count('dropped') + smsc.count('garbage'));
    expect(await client.balance()).toBe(100);
    expect(await checkLedger(service)).toEqual([]);
  });
});
