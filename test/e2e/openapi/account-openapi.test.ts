import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MANAGED, operatorOf, plainUserOf, type UserClient, userOf } from '../../support/accounts/account-users.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { validatingFetch } from '../../support/openapi/openapi-fetch.js';
import { serveDocument } from '../../support/openapi/openapi-host.js';
import { rawFetch } from '../../support/openapi/openapi-raw-fetch.js';

unmountAfterEach();

/** A request of a user, and the status of its answer. */
type Step = readonly [method: string, path: string, status: number, body?: object];

describeOnBothAdapters('the API of an account', (adapter) => {
  test('answers as it is described', async () => {
    const app = await startMessaging(adapter, MANAGED, { configure: serveDocument });
    alsoUnmount(app);
    const { url, accountId } = app;
    const document = JSON.parse(await (await fetch(`${url}/docs-json`)).text());
    const validated = validatingFetch(document, rawFetch);
    const [admin, viewer] = [userOf(url, accountId, 'admin'), userOf(url, accountId, 'viewer')];
    const as = async (user: UserClient, steps: readonly Step[]) => {
      const token: string = Reflect.get(user, 'token');
      for (const [method, path, status, body] of steps) {
        const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
        const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
        const answer = await validated(`${url}/api/v1/${path}`, init);
        expect([method, path, answer.status]).toEqual([method, path, status]);
      }
    };
    const program = new ApiClient(`${url}/api/v1`, accountId, app.key);
    await program.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] });
    await app.app.get(LedgerService, { strict: false }).topUp(accountId, 5, { reference: 'inv', note: 'Merci' });
    await app.app.get(AccountService, { strict: false }).setLowBalance(accountId, 10_000);
    const numbers = ['22670000001'];
    await as(admin, [
      ['GET', 'me', 200],
      ['POST', 'signatures', 200, { name: 'SHOP' }],
      ['POST', 'signatures', 400, { name: 'É' }],
      ['GET', 'signatures?limit=2', 200],
      ['GET', 'signatures?cursor=x', 400],
      ['DELETE', 'signatures/SHOP', 200],
      ['DELETE', 'signatures/SHOP', 404],
      ['POST', 'optouts', 200, { signature: 'INFOS', numbers }],
      ['POST', 'optouts', 400, { signature: 'INFOS', numbers: ['x'] }],
      ['POST', 'optouts', 400, { signature: 'É', numbers }],
      ['GET', 'optouts?limit=1', 200],
      ['GET', 'optouts?number=x', 400],
      ['DELETE', 'optouts/x', 404],
      ['GET', 'audit', 200],
      ['GET', 'audit?action=x', 400],
      ['GET', 'ledger', 200],
      ['GET', 'ledger?kind=x', 400],
      ['GET', 'ledger?limit=0', 400],
      ['GET', 'usage?group_by=day,country,key,signature,channel', 200],
      ['GET', 'usage?group_by=x', 400],
      ['GET', 'overview', 200],
      ['GET', 'codes', 200],
      ['GET', 'codes?since=x', 400],
    ]);
    await as(viewer, [
      ['POST', 'signatures', 403, { name: 'SHOP' }],
      ['POST', 'optouts', 403, { signature: 'INFOS', numbers }],
      ['GET', 'audit', 403],
    ]);
    await as(operatorOf(url, 'support'), [
      ['GET', 'me', 200],
      ['GET', 'usage', 400],
    ]);
    await as(plainUserOf(url, accountId), [
      ['GET', 'me', 403],
      ['GET', 'ledger', 403],
    ]);
  });
});
