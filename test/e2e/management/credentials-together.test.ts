import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { startManagement } from '../../support/management/management-app.js';
import { unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

type Given = 'absent' | 'blank' | 'malformed' | 'key' | 'user';

const X_API_KEY: readonly Given[] = ['absent', 'blank', 'malformed', 'key', 'user'];
const X_USER_TOKEN: readonly Given[] = ['absent', 'blank', 'malformed', 'key', 'user'];
const AUTHORIZATION: readonly Given[] = ['absent', 'blank', 'malformed', 'key', 'user'];

/** Who is admitted, by the first of the three headers that is present, even if it is blank. A cookie admits nobody. */
function admitted(xApiKey: Given, xUserToken: Given, authorization: Given): 'key' | 'user' | 401 {
  if (xApiKey !== 'absent') return xApiKey === 'key' ? 'key' : 401;
  if (xUserToken !== 'absent') return xUserToken === 'user' ? 'user' : 401;
  return authorization === 'key' || authorization === 'user' ? authorization : 401;
}

describeOnBothAdapters('several credentials in one request', (adapter) => {
  test('are decided by X-Api-Key, then X-User-Token, then Authorization, and never by a cookie', async () => {
    const { app, url, accountId, browser, link } = await startManagement(adapter);
    const accounts = app.get(AccountService, { strict: false });
    await accounts.createAccount({ id: 'keyed', name: 'Keyed' });
    const { key } = await accounts.issueKey('keyed');
    const page = browser();
    const user = await page.signIn({ token: await link() });
    const values = { blank: '', malformed: 'x', key, user } as const;

    const seen: unknown[] = [];
    const expected: unknown[] = [];
    for (const xApiKey of X_API_KEY) {
      for (const xUserToken of X_USER_TOKEN) {
        for (const authorization of AUTHORIZATION) {
          const headers = {
            ...(xApiKey !== 'absent' && { 'x-api-key': values[xApiKey] }),
            ...(xUserToken !== 'absent' && { 'x-user-token': values[xUserToken] }),
            ...(authorization !== 'absent' && { authorization: `Bearer ${values[authorization]}`.trim() }),
          };
          for (const cookie of [undefined, page.cookie]) {
            const reply = await call(`${url}/balance`, { headers: { ...headers, ...(cookie && { cookie }) } });
            const who = admitted(xApiKey, xUserToken, authorization);
            const given = [xApiKey, xUserToken, authorization, cookie && 'cookie'];
            const ofKeyInBearer = who === 'key' && xApiKey === 'absent';
            seen.push([...given, reply.status, userOf(reply.body), reply.headers.has('deprecation')]);
            expected.push(
              who === 401
                ? [...given, 401, undefined, false]
                : [...given, 200, who === 'key' ? 'keyed' : accountId, ofKeyInBearer],
            );
          }
        }
      }
    }
    expect(seen).toEqual(expected);
  });
});

function userOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'userID' in body ? body.userID : undefined;
}
