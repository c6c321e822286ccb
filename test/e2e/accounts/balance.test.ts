import { beforeAll, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { describeServices, type Service } from '../../support/mounting/services.js';

describeServices('GET /balance', (start) => {
  let service: Service;
  beforeAll(async () => {
    service = await start();
  });

  test('is an integer, the account’s units, in an answer with exactly three fields', async () => {
    const client = await service.client(998);
    const reply = await client.call('balance');
    expect([reply.status, reply.body]).toEqual([200, { userID: client.accountId, balance: 998, unit: 'sms_units' }]);
    expect(reply.headers.get('content-type')).toMatch(/^application\/json\b/);
  });

  test('is 0 for a new account, and follows the ledger', async () => {
    const client = await service.client(0);
    const ledger = service.app.get(LedgerService, { strict: false });
    expect(await client.balance()).toBe(0);
    await ledger.topUp(client.accountId, 1_000_000_000_000);
    await ledger.adjust(client.accountId, -1);
    expect(await client.balance()).toBe(999_999_999_999);
    await client.sent({ signature: 'INFOS', content: 'x', number: ['33612345678'] });
    expect(await client.balance()).toBe(999_999_999_996);
  });

  test('supports HEAD, ignores a query and a body, and refuses POST', async () => {
    const client = await service.client(1);
    expect(await client.call('balance?account=other&x[]=1')).toMatchObject({ status: 200, body: { balance: 1 } });
    expect((await client.call('balance', { method: 'HEAD' })).status).toBe(200);
    expect(await client.post('balance', { balance: 5 })).toMatchObject({ status: 404, body: { statusCode: 404 } });
    expect(await client.balance()).toBe(1);
  });

  test('shows only the caller’s own account', async () => {
    const [rich, poor] = [await service.client(50), await service.client(2)];
    expect([await rich.balance(), await poor.balance()]).toEqual([50, 2]);
  });
});
