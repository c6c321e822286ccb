import { AccountDirectory } from '../../../src/accounts/account-directory.js';
import { AccountService, type IssueKeyCallOptions } from '../../../src/accounts/account-service.js';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { type Described, operationsOf } from './openapi-reader.js';
import { play, type Stage, type Step } from './openapi-scenario.js';

type Asked = Step & { readonly method: string };

/**
 * Requests every route that needs a credential with keys that have every kind of limit, and while the account is
 * suspended.
 */
export async function playLimits(stage: Stage, document: Described): Promise<void> {
  const far = await keyOf(stage, { cidrs: ['192.0.2.1'] });
  const [balance, code] = [
    await keyOf(stage, { scopes: ['balance:read'] }),
    await keyOf(stage, { scopes: ['otp:verify'] }),
  ];
  const rated = await keyOf(stage, { perMinute: 1 });
  await play(stage, 'GET', { path: '/api/v1/balance', status: 200, headers: rated });
  const routes = [...operationsOf(document)]
    .filter(([, { security = [] }]) => security.length > 0)
    .map(([name, { responses }]) => {
      const [method = '', template = ''] = name.split(' ');
      const examples = Object.keys(responses[403]?.content?.['application/json']?.examples ?? {});
      return { method, path: template.replaceAll(/\{\w+\}/g, '7'), isLive: examples.includes('account_suspended') };
    });
  for (const { method, path } of routes) {
    await play(stage, method, { path, status: 403, headers: far });
    await play(stage, method, { path, status: 403, headers: path === '/api/v1/balance' ? code : balance });
    await play(stage, method, { path, status: 429, headers: rated });
  }
  const accounts = stage.app.app.get(AccountStore, { strict: false });
  const { accountState } = accounts;
  const directory = stage.app.app.get(AccountDirectory, { strict: false });
  accounts.accountState = async () => 'suspended';
  directory.forget(stage.app.accountId);
  for (const { method, path, isLive } of routes) if (isLive) await play(stage, method, { path, status: 403 });
  accounts.accountState = accountState;
  directory.forget(stage.app.accountId);
}

/**
 * Sends with a key that has spent its daily units, with one that reaches other numbers only, and with one whose sends need a
 * confirmation. The account keeps as many units as before.
 */
export async function playCap(stage: Stage, sends: readonly Asked[]): Promise<void> {
  const headers = await keyOf(stage, { dailyUnits: 1 });
  await stage.app.app.get(LedgerService, { strict: false }).topUp(stage.app.accountId, 1);
  const body = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
  await play(stage, 'POST', { path: '/api/v1/send/sms', body, status: 200, headers });
  for (const { method, ...step } of sends) await play(stage, method, { ...step, status: 429, headers });
  const refusing = [await keyOf(stage, { recipients: ['22699999999'] }), await keyOf(stage, { confirmAbove: 0 })];
  for (const headers of refusing) {
    for (const { method, ...step } of sends) await play(stage, method, { ...step, status: 403, headers });
  }
}

async function keyOf({ app }: Stage, limits: IssueKeyCallOptions): Promise<{ readonly 'x-api-key': string }> {
  const { key } = await app.app.get(AccountService, { strict: false }).issueKey(app.accountId, limits);
  return { 'x-api-key': key };
}
