import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import type { AuditPage } from '../../../src/accounts/audit/audit.api.js';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { parseApiKey } from '../../../src/accounts/keys/api-key.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { ManagementModule } from '../../../src/management/management.module.js';
import type { OptOutPage } from '../../../src/management/optouts/optout.api.js';
import type { SignaturePage } from '../../../src/management/signatures/signature.api.js';
import { MessagingCore } from '../../../src/messaging/messaging-core.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { MANAGED, operatorOf, plainUserOf, userOf } from '../../support/accounts/account-users.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { alsoUnmount, mount, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { startWebhooks } from '../../support/webhooks/webhook-app.js';

unmountAfterEach();

/** Entries of the audit log about how the accounts of the tests were made. */
const isTested = ({ action }: { readonly action: string }) => /^(signature|optout|webhook)\./.test(action);

const NUMBERS = ['22670000001', '22670000002', '22670000003'];

describeOnOneAdapter('the API of an account', (adapter) => {
  const start = async (options: Partial<MessagingOptions> = {}) => {
    const app = await startMessaging(adapter, { ...MANAGED, ...options });
    alsoUnmount(app);
    const { url, accountId } = app;
    return {
      ...app,
      viewer: userOf(url, accountId, 'viewer'),
      sender: userOf(url, accountId, 'sender'),
      developer: userOf(url, accountId, 'developer'),
      program: new ApiClient(`${url}/api/v1`, accountId, app.key),
      audited: () =>
        app.app
          .get(AuditLog, { strict: false })
          .list({ limit: 100 })
          .then(({ items }) => items.filter(isTested).reverse()),
    };
  };

  test('says who is calling, what they may do, and what is mounted', async () => {
    const { url, accountId, viewer, program } = await start({
      otp: { pepper: PEPPER },
      msgapp: MSGAPP,
      webhooks: { pepper: PEPPER },
      campaigns: {},
      locale: 'en',
    });
    const account = { id: accountId, name: 'Test', state: 'active', balance: 1000 };
    const capabilities = { sms: true, otp: true, msgapp: ['msgapp'], webhooks: true, hooks: false, campaigns: true };
    expect(await viewer.read('me')).toEqual({
      user: { subject: 'viewer@example.com', role: 'viewer' },
      key: null,
      account,
      operator: null,
      permissions: expect.arrayContaining(['messages.read', 'ledger.read']),
      capabilities,
      standstills: [],
      locale: 'en',
      home: { country: 'BF', calling_code: '226', national_lengths: [8] },
    });
    const { permissions } = await viewer.read<{ permissions: string[] }>('me');
    expect(permissions).not.toContain('signatures.write');
    expect((await program.call('me')).body).toMatchObject({
      user: null,
      key: { id: expect.any(String), scopes: expect.arrayContaining(['sms:send']) },
      account,
      permissions: expect.arrayContaining(['sms.send', 'webhooks.write', 'me.read']),
    });
    const operator = operatorOf(url, 'support');
    const role = { user: { subject: 'support@operator.example.com', role: 'support' }, operator: 'support', key: null };
    expect(await operator.read('me')).toMatchObject({ ...role, account: null });
    expect(await operator.read(`me?account=${accountId}`)).toMatchObject({ ...role, account });
    expect(await operator.call('me?account=nobody')).toMatchObject({ status: 404 });
    expect(await plainUserOf(url, accountId).call('me')).toMatchObject({ status: 403 });
  });

  test('a signature is requested, and can be withdrawn while it is pending, but not once it is decided', async () => {
    const { app, accountId, developer, viewer, audited } = await start();
    const asked = await developer.post('signatures', { name: 'BOUTIQUE' });
    const pending = {
      name: 'BOUTIQUE',
      status: 'pending',
      reason: null,
      created_at: expect.any(String),
      decided_at: null,
      is_default: false,
    };
    expect(asked).toMatchObject({ status: 200, body: pending });
    expect((await developer.post('signatures', { name: 'BOUTIQUE' })).body).toEqual(asked.body);
    expect(await viewer.post('signatures', { name: 'A' })).toMatchObject({ status: 403 });
    for (const name of ['', 'Été', 'A'.repeat(12), 7, null]) {
      expect(await developer.post('signatures', { name })).toMatchObject({ status: 400 });
    }
    expect(await developer.delete('signatures/BOUTIQUE')).toMatchObject({ status: 200, body: { success: true } });
    expect(await developer.delete('signatures/BOUTIQUE')).toMatchObject({ status: 404 });
    expect(await developer.delete('signatures/a%00b')).toMatchObject({ status: 404 });
    await developer.post('signatures', { name: 'M & B' });
    const service = app.get(SignatureService, { strict: false });
    await service.reject(accountId, 'M & B', 'Une marque');
    const refused = await developer.delete('signatures/M%20%26%20B');
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([409, 'signature_decided']);
    const { items } = await viewer.read<SignaturePage>('signatures');
    expect(items.at(-1)).toMatchObject({ name: 'M & B', status: 'rejected', reason: 'Une marque' });
    const by = { kind: 'user', id: 'developer@example.com', address: expect.stringContaining('127.0.0.1') };
    expect(await audited()).toMatchObject([
      { accountId, action: 'signature.registered', target: 'BOUTIQUE', by, after: { status: 'pending' } },
      { accountId, action: 'signature.removed', target: 'BOUTIQUE', by, before: { status: 'pending' } },
      { action: 'signature.registered', target: 'M & B', by },
      { action: 'signature.rejected', target: 'M & B', by: { kind: 'host' }, after: { reason: 'Une marque' } },
    ]);
  });

  test('signatures are listed page by page, the default ones first', async () => {
    const { developer, viewer } = await start();
    for (const name of ['BB', 'AA', 'CC']) await developer.post('signatures', { name });
    const all = ['INFOS', 'ALERTE', 'SERVICE', 'AA', 'BB', 'CC'];
    for (const limit of [1, 2, 3, 4, 500]) {
      const names: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: SignaturePage = await viewer.read(`signatures?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        expect(page.items.length).toBeLessThanOrEqual(limit);
        names.push(...page.items.map(({ name }) => name));
        cursor = page.next_cursor;
      }
      expect(names).toEqual(all);
    }
    const { items } = await viewer.read<SignaturePage>('signatures?limit=1');
    expect(items).toEqual([
      { name: 'INFOS', status: 'verified', reason: null, created_at: null, decided_at: null, is_default: true },
    ]);
    for (const cursor of ['x', 'MTI', 'OjE6', '%00']) {
      expect(await viewer.call(`signatures?cursor=${cursor}`)).toMatchObject({ status: 400 });
    }
    expect(await viewer.call('signatures?limit=501')).toMatchObject({ status: 400 });
  });

  test('a POST under an Idempotency-Key takes effect once', async () => {
    const { developer, sender, audited } = await start();
    const key = { 'idempotency-key': 'k1' };
    const first = await developer.post('signatures', { name: 'AA' }, key);
    await developer.delete('signatures/AA');
    const again = await developer.post('signatures', { name: 'AA' }, key);
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, 'true']);
    expect(await developer.post('signatures', { name: 'BB' }, key)).toMatchObject({ status: 422 });
    const optOut = { signature: 'INFOS', numbers: NUMBERS };
    expect((await sender.post('optouts', optOut, key)).body).toEqual({ added: 3 });
    expect((await sender.post('optouts', optOut, key)).body).toEqual({ added: 3 });
    expect((await audited()).map(({ action }) => action)).toEqual([
      'signature.registered',
      'signature.removed',
      'optout.added',
    ]);
  });

  test('numbers are opted out and back in by the account', async () => {
    const { app, url, accountId, sender, viewer, audited } = await start();
    expect(await sender.post('optouts', { signature: 'INFOS', numbers: NUMBERS })).toMatchObject({
      status: 200,
      body: { added: 3 },
    });
    expect((await sender.post('optouts', { signature: 'INFOS', numbers: NUMBERS })).body).toEqual({ added: 0 });
    expect(await viewer.post('optouts', { signature: 'INFOS', numbers: NUMBERS })).toMatchObject({ status: 403 });
    const page = await viewer.read<OptOutPage>('optouts?limit=2');
    expect(page.items).toHaveLength(2);
    const rest = await viewer.read<OptOutPage>(`optouts?limit=2&cursor=${page.next_cursor}`);
    expect([...page.items, ...rest.items].map(({ number }) => number).sort()).toEqual(NUMBERS);
    const [entry] = (await viewer.read<OptOutPage>(`optouts?number=${NUMBERS[0]}&signature=INFOS`)).items;
    const added = { number: NUMBERS[0], signature: 'INFOS', source: 'operator', added_at: expect.any(String) };
    expect(entry).toEqual({ id: expect.any(String), ...added });
    const foreign = await app.get(AccountService, { strict: false }).createAccount({ name: 'Other' });
    expect(await userOf(url, foreign.id, 'sender').delete(`optouts/${entry?.id}`)).toMatchObject({ status: 404 });
    expect(await sender.delete(`optouts/${entry?.id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect(await sender.delete(`optouts/${entry?.id}`)).toMatchObject({ status: 404 });
    expect(await sender.delete('optouts/%00')).toMatchObject({ status: 404 });
    expect((await viewer.read<OptOutPage>('optouts?signature=ALERTE')).items).toEqual([]);
    const by = { kind: 'user', id: 'sender@example.com' };
    expect(await audited()).toMatchObject([
      { accountId, action: 'optout.added', target: 'INFOS', by, after: { count: 3, numbers: expect.any(Array) } },
      { accountId, action: 'optout.removed', target: 'INFOS', by, before: { count: 1, numbers: ['226******01'] } },
    ]);
    for (const body of [
      { signature: 'INFOS' },
      { signature: 'INFOS', numbers: [] },
      { signature: 'INFOS', numbers: ['+226'] },
      { signature: 'A'.repeat(300), numbers: NUMBERS },
      { signature: 'a\0', numbers: NUMBERS },
      { numbers: NUMBERS },
    ]) {
      expect(await sender.post('optouts', body)).toMatchObject({ status: 400 });
    }
    for (const query of ['number=abc', 'signature=%00', 'limit=0', 'cursor=*']) {
      expect(await viewer.call(`optouts?${query}`)).toMatchObject({ status: 400 });
    }
  });

  test('an opt-out that a phone sent, and entries for all accounts, cannot be changed by the account', async () => {
    const { app, viewer, audited } = await start();
    await app.get(OptOutService, { strict: false }).add({ signature: 'INFOS' }, NUMBERS);
    expect((await viewer.read<OptOutPage>('optouts')).items).toEqual([]);
    expect(await audited()).toMatchObject([{ accountId: undefined, action: 'optout.added', by: { kind: 'host' } }]);
  });

  test('an application without SMS has an empty list', async () => {
    const { storage, signatures } = OPTIONS;
    const core = MessagingCore.forRoot({ storage, signatures, userTokens: MANAGED.userTokens });
    const management = { secret: 'a secret of access tokens, for tests only' };
    const { app, url } = await mount(adapter, [core, ManagementModule.forRoot({ core, management })]);
    const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'Test' });
    const sender = userOf(url, id, 'sender');
    expect(await sender.read('optouts')).toEqual({ items: [], next_cursor: null });
    expect((await sender.post('optouts', { signature: 'INFOS', numbers: NUMBERS })).body).toEqual({ added: 0 });
    expect(await sender.delete('optouts/x')).toMatchObject({ status: 404 });
    expect(await sender.read('me')).toMatchObject({
      capabilities: { sms: false, otp: false, msgapp: [], webhooks: false, campaigns: false },
    });
  });

  test('changes are listed to developers, for their account alone, filtered and page by page', async () => {
    const { app, url, developer, sender } = await start();
    const foreign = await app.get(AccountService, { strict: false }).createAccount({ name: 'Other' });
    for (const name of ['AA', 'BB', 'CC']) await developer.post('signatures', { name });
    await developer.delete('signatures/BB');
    const other = userOf(url, foreign.id, 'admin');
    await other.post('signatures', { name: 'ZZ' });
    const targets = ({ items }: AuditPage) => items.filter(isTested).map(({ action, target }) => `${action} ${target}`);
    const all = ['signature.removed BB', ...['CC', 'BB', 'AA'].map((name) => `signature.registered ${name}`)];
    const audit = await developer.read<AuditPage>('audit');
    expect(targets(audit)).toEqual(all);
    expect(audit.items[0]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      action: 'signature.removed',
      target: 'BB',
      by: { kind: 'user', id: 'developer@example.com', address: expect.any(String) },
      account: expect.any(String),
      before: { status: 'pending', reason: null },
      after: null,
    });
    const page = await developer.read<AuditPage>('audit?limit=3');
    const rest = await developer.read<AuditPage>(`audit?cursor=${page.next_cursor}`);
    expect(page.items).toHaveLength(3);
    expect([...page.items, ...rest.items]).toEqual(audit.items);
    expect(rest.next_cursor).toBeNull();
    expect(targets(await developer.read('audit?action=signature.removed'))).toEqual(all.slice(0, 1));
    expect(targets(await developer.read('audit?until=2020-01-01'))).toEqual([]);
    expect(targets(await developer.read('audit?since=2020-01-01'))).toEqual(all);
    expect(targets(await other.read('audit'))).toEqual(['signature.registered ZZ']);
    expect(await sender.call('audit')).toMatchObject({ status: 403 });
    for (const query of ['action=x', 'since=x', 'cursor=x', 'limit=501']) {
      expect(await developer.call(`audit?${query}`)).toMatchObject({ status: 400 });
    }
  });

  test('each change of an endpoint leaves one entry, by the user or the key that made it, and no secret', async () => {
    const { app, url, client, network } = await startWebhooks(adapter, MANAGED);
    network.name('other.example.com', ['93.184.216.34']);
    const developer = userOf(url, client.accountId, 'developer');
    const { body } = await developer.post('webhooks', { url: 'https://hooks.example.com/in?token=4711' });
    const { id, secret } = body as { id: string; secret: string };
    await developer.call(`webhooks/${id}`, { method: 'PATCH', body: { url: 'https://other.example.com/' } });
    await developer.call(`webhooks/${id}`, { method: 'PATCH', body: { url: 'https://127.0.0.1/' } });
    await developer.post(`webhooks/${id}/rotate`, {});
    await developer.post(`webhooks/${id}/rotate`, { keep_hours: -1 });
    await developer.post(`webhooks/${id}/test`, {});
    await developer.post(`webhooks/${id}/disable`, {});
    await client.post(`webhooks/${id}/enable`, {});
    await developer.delete(`webhooks/${id}`);
    await developer.delete(`webhooks/${id}`);
    const { items: all } = await app.get(AuditLog, { strict: false }).list({ limit: 100 });
    const items = all.filter(isTested);
    const user = 'user developer@example.com';
    expect([...items].reverse().map(({ action, by }) => `${action} ${by.kind} ${by.id}`)).toEqual([
      `webhook.created ${user}`,
      `webhook.changed ${user}`,
      `webhook.secret_rotated ${user}`,
      `webhook.disabled ${user}`,
      `webhook.enabled key ${parseApiKey(client.key)?.id}`,
      `webhook.removed ${user}`,
    ]);
    expect(JSON.stringify(items)).not.toMatch(/4711|whsec/);
    expect(JSON.stringify(items)).not.toContain(secret);
  });

  test('a key cannot reach any of these routes', async () => {
    const { program } = await start();
    for (const path of ['signatures', 'optouts', 'audit']) {
      const reply = await program.call(path);
      expect([reply.status, reply.headers.get('x-error-code')]).toEqual([403, 'user_required']);
    }
  });
});
