import { beforeAll, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient, Details } from '../../support/http/api-client.js';
import { call } from '../../support/http/http-client.js';
import { describeService, type Service } from '../../support/mounting/services.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const GOOD = '22670000001';

describeService('the states of an SMS in the sandbox', (start) => {
  let clock: FakeClock;
  let service: Service;
  beforeAll(async () => {
    clock = new FakeClock();
    service = await start({ clock: { useValue: clock } }, { imports: [SandboxModule.forRoot()] });
  });

  const stateOf = ({ recipients }: Details, number: string) =>
    recipients.find((recipient) => recipient.number === number)?.status;

  const turnTo = (client: ApiClient, smsId: string, number: string, status: string): Promise<Details> =>
    eventually(
      () => client.details(smsId),
      (details) => stateOf(details, number) === status,
      { clock, stepMs: 50 },
    );

  const phone = async (number: string) => (await call(`${service.url}/sandbox/phones/${number}/messages`)).body;

  test('990001 fails for good and is refunded, recipient by recipient; sms_units stays what was charged', async () => {
    const client = await service.client(100);
    const content = 'a'.repeat(161);
    const receipt = await client.sent({ ...SEND, content, number: [GOOD, '33600990001', '22670990001'] });
    expect(receipt.sms_units).toBe(2 + 6 + 2);
    await turnTo(client, receipt.smsID, '33600990001', 'failed');
    const details = await turnTo(client, receipt.smsID, GOOD, 'delivered');
    expect(details).toMatchObject({
      sms_units: 10,
      refunded_units: 8,
      recipients: [
        { number: GOOD, status: 'delivered', units: 2, refunded_units: 0, error: null },
        { number: '33600990001', status: 'failed', units: 6, refunded_units: 6, error: expect.any(String) },
        { number: '22670990001', status: 'failed', units: 2, refunded_units: 2 },
      ],
    });
    expect(await client.balance()).toBe(98);
    expect((await client.list()).items[0]).toMatchObject({ sms_units: 10, refunded_units: 8 });
    expect(await phone('33600990001')).toEqual([]);
    const ledger = service.app.get(LedgerService, { strict: false });
    expect((await ledger.entries(client.accountId)).items.map(({ kind, units }) => [kind, units])).toEqual(
      expect.arrayContaining([
        ['refund', 6],
        ['refund', 2],
        ['charge', -10],
        ['topup', 100],
      ]),
    );
    expect(await ledger.checkLedger()).toEqual([]);
  });

  test('990002 is tried three times and delivered within 5 s', async () => {
    const client = await service.client(100);
    const number = '22670990002';
    const begun = clock.now();
    const { smsID } = await client.sent({ ...SEND, number: [number] });
    const tried = await eventually(
      () => client.details(smsID),
      ({ recipients: [recipient] }) => recipient?.error != null,
      { clock, stepMs: 50 },
    );
    expect(tried.recipients).toMatchObject([{ status: 'sending', error: expect.any(String) }]);
    const details = await turnTo(client, smsID, number, 'delivered');
    expect(clock.now() - begun).toBeLessThan(5000);
    expect(details.recipients[0]).toMatchObject({ units: 1, refunded_units: 0 });
    expect(await phone(number)).toMatchObject([{ messageID: smsID }]);
    expect(await client.balance()).toBe(99);
  });

  test('990003 is sent and becomes unknown without a report after 10 s; nothing is refunded', async () => {
    const client = await service.client(100);
    const number = '22670990003';
    const { smsID } = await client.sent({ ...SEND, number: [number] });
    await turnTo(client, smsID, number, 'sent');
    const sentAt = clock.now();
    await turnTo(client, smsID, number, 'unknown');
    expect(clock.now() - sentAt).toBeGreaterThan(9_000);
    expect(clock.now() - sentAt).toBeLessThan(13_000);
    expect(await client.balance()).toBe(99);
    expect(await phone(number)).toEqual([]);
  });

  test('990004 is accepted, then undelivered, and not refunded', async () => {
    const client = await service.client(100);
    const number = '22670990004';
    const { smsID } = await client.sent({ ...SEND, number: [number] });
    const details = await turnTo(client, smsID, number, 'undelivered');
    expect(details).toMatchObject({ refunded_units: 0, recipients: [{ units: 1, refunded_units: 0 }] });
    expect(await client.balance()).toBe(99);
    expect(await phone(number)).toEqual([]);
  });

  test('an SMS stays queued and charged if no process delivers', async () => {
    const idle = await start({ role: 'api' });
    const client = await idle.client(100);
    const { smsID } = await client.sent({ ...SEND, number: [GOOD, '22670990001'] });
    const { recipients } = await client.details(smsID);
    expect(recipients.map(({ status }) => status)).toEqual(['queued', 'queued']);
    expect(await client.balance()).toBe(98);
  });
});
