import { expect, test } from '@jest/globals';
import { AuditLog } from '../../../src/accounts/audit/audit.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import type {
  AccountPage,
  AccountView,
  ManagedSignaturePage,
  PostingView,
} from '../../../src/management/operator/accounts/managed-account.api.js';
import { describeOnOneAdapter, type RunningApp } from '../../support/http/http-apps.js';
import { startManage } from '../../support/management/manage-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';

unmountAfterEach();

/** The entries of the audit log, oldest first. */
async function audited({ app }: RunningApp, accountId?: string) {
  const { items } = await app.get(AuditLog, { strict: false }).list({ limit: 100, accountId });
  return items.toReversed().map(({ id: _, at: __, ...entry }) => entry);
}

describeOnOneAdapter('the operators’ routes for accounts', (adapter) => {
  test('an account is created, read, renamed, suspended, resumed and closed, and each change is in the audit log once', async () => {
    const world = await startManage(adapter);
    const { operator, support, clock } = world;
    const made = await operator.done<AccountView>('manage/accounts', { id: 'shop', name: 'Shop' });
    const account = {
      id: 'shop',
      name: 'Shop',
      state: 'active',
      balance: 0,
      low_balance: null,
      created_at: new Date(clock.now()).toISOString(),
    };
    expect(made).toEqual(account);
    expect(await support.read('manage/accounts/shop')).toEqual(account);
    const change = (body: object) => operator.call('manage/accounts/shop', { method: 'PATCH', body });
    expect(await change({ name: 'Boutique', low_balance: 5 })).toMatchObject({
      status: 200,
      body: { name: 'Boutique', low_balance: 5 },
    });
    expect((await change({ name: 'Boutique', low_balance: null })).body).toMatchObject({ low_balance: 5 });
    expect((await change({ low_balance: 0 })).body).toMatchObject({ name: 'Boutique', low_balance: null });
    for (const [what, state] of [
      ['suspend', 'suspended'],
      ['suspend', 'suspended'],
      ['resume', 'active'],
      ['close', 'closed'],
    ]) {
      expect(await operator.done(`manage/accounts/shop/${what}`)).toMatchObject({ id: 'shop', state });
    }
    const by = { kind: 'operator', id: 'odile', address: expect.stringContaining('127.0.0.1') };
    const entry = { accountId: 'shop', by, target: 'shop' };
    expect(await audited(world)).toEqual([
      { ...entry, action: 'account.created', after: { name: 'Shop' } },
      {
        ...entry,
        action: 'account.renamed',
        before: { name: 'Shop', low_balance: null },
        after: { name: 'Boutique', low_balance: 5 },
      },
      { ...entry, action: 'account.renamed', before: { low_balance: 5 }, after: { low_balance: null } },
      { ...entry, action: 'account.suspended', before: { state: 'active' }, after: { state: 'suspended' } },
      { ...entry, action: 'account.resumed', before: { state: 'suspended' }, after: { state: 'active' } },
      { ...entry, action: 'account.closed', before: { state: 'active' }, after: { state: 'closed' } },
    ]);
  });

  test('a suspended account sends nothing until it is resumed, and can still read', async () => {
    const world = await startManage(adapter);
    const { operator } = world;
    const client = await clientOf(world);
    const sms = { signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] };
    expect((await client.send(sms)).status).toBe(200);
    await operator.done(`manage/accounts/${client.accountId}/suspend`);
    const refused = await client.send(sms);
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'account_suspended']);
    expect(await client.balance()).toBe(9);
    await operator.done(`manage/accounts/${client.accountId}/resume`);
    expect((await client.send(sms)).status).toBe(200);
  });

  test('accounts are listed newest first, and found by the beginning of an id or a name', async () => {
    const { operator, support, clock } = await startManage(adapter);
    for (const [id, name] of [
      ['b2', 'Anna'],
      ['a1', 'Berta'],
      ['c3', 'b'],
      ['b1', 'Zoe'],
      ['b3', 'b'],
    ]) {
      await operator.done('manage/accounts', { id, name });
      clock.advance(1);
    }
    await operator.done('manage/accounts/b1/suspend');
    const walk = async (query: string) => {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await support.read<AccountPage>(`manage/accounts?limit=1${query}${cursor}`);
        ids.push(...page.items.map(({ id }) => id));
        if (page.next_cursor === null) return ids;
        cursor = `&cursor=${page.next_cursor}`;
      }
    };
    expect(await walk('')).toEqual(['b3', 'b1', 'c3', 'a1', 'b2']);
    expect(await walk('&query=b')).toEqual(['b1', 'b2', 'b3', 'c3']);
    expect(await walk('&query=Be')).toEqual(['a1']);
    expect(await walk('&state=suspended')).toEqual(['b1']);
    expect(await walk('&query=b&state=active')).toEqual(['b2', 'b3', 'c3']);
    expect(await walk('&query=%25')).toEqual([]);
    expect((await support.call('manage/accounts?state=gone')).status).toBe(400);
    expect((await support.call('manage/accounts?cursor=bm9uZQ')).status).toBe(400);
    expect((await support.call('manage/accounts?query=%00')).status).toBe(400);
    expect((await support.call('manage/accounts?limit=501')).status).toBe(400);
  });

  test('wrong input is a 400 that names the fault, and an unknown account is a 404', async () => {
    const { operator } = await startManage(adapter);
    await operator.done('manage/accounts', { id: 'a', name: 'A' });
    const refusals: [path: string, body: object, status: number][] = [
      ['manage/accounts', {}, 400],
      ['manage/accounts', { name: ' ' }, 400],
      ['manage/accounts', { name: 'x'.repeat(129) }, 400],
      ['manage/accounts', { id: 'a b', name: 'A' }, 400],
      ['manage/accounts', { id: 'a', name: 'A' }, 409],
      ['manage/accounts/b/suspend', {}, 404],
      ['manage/accounts/b/topups', { units: 1, reference: 'r' }, 404],
      ['manage/accounts/a/topups', { units: 1 }, 400],
      ['manage/accounts/a/topups', { units: 0, reference: 'r' }, 400],
      ['manage/accounts/a/topups', { units: '1', reference: 'r' }, 400],
      ['manage/accounts/a/topups', { units: -1, reference: 'r' }, 400],
      ['manage/accounts/a/topups', { units: 1, reference: 'r'.repeat(65) }, 400],
      ['manage/accounts/a/adjustments', { units: -1, reference: 'r' }, 400],
      ['manage/accounts/a/signatures/NONE/verify', {}, 404],
    ];
    for (const [path, body, status] of refusals) {
      expect([path, body, (await operator.post(path, body)).status]).toEqual([path, body, status]);
    }
    expect((await operator.call('manage/accounts/b', { method: 'PATCH', body: { name: 'x' } })).status).toBe(404);
    expect((await operator.call('manage/accounts/a', { method: 'PATCH', body: { low_balance: 1.5 } })).status).toBe(
      400,
    );
  });

  test('units are posted once for each reference, and a finance user may do so too', async () => {
    const world = await startManage(adapter);
    const { operator, finance } = world;
    await operator.done('manage/accounts', { id: 'shop', name: 'Shop' });
    const topUp = { units: 100, reference: 'invoice-1', note: 'Facture 1' };
    const posted = await finance.done<PostingView>('manage/accounts/shop/topups', topUp);
    expect(posted).toMatchObject({
      balance: 100,
      entry: { id: 'invoice-1', kind: 'topup', units: 100, message_id: null, position: null, note: 'Facture 1' },
    });
    // A repeat succeeds and posts nothing.
    expect(await finance.done('manage/accounts/shop/topups', { ...topUp, note: 'Again' })).toEqual(posted);
    for (const body of [{ ...topUp, units: 101 }]) {
      expect((await finance.post('manage/accounts/shop/topups', body)).status).toBe(409);
      expect((await finance.post('manage/accounts/shop/adjustments', body)).status).toBe(409);
    }
    expect(await finance.done('manage/accounts/shop/adjustments', { units: -30, reference: 'fix' })).toMatchObject({
      balance: 70,
      entry: { kind: 'adjust', units: -30, note: null },
    });
    const entries = (await audited(world, 'shop')).filter(({ action }) => action.startsWith('balance.'));
    const by = { kind: 'operator', id: 'fatou', address: expect.any(String) };
    expect(entries).toEqual([
      {
        accountId: 'shop',
        by,
        action: 'balance.topped_up',
        target: 'invoice-1',
        before: { balance: 0 },
        after: { balance: 100, units: 100 },
      },
      {
        accountId: 'shop',
        by,
        action: 'balance.adjusted',
        target: 'fix',
        before: { balance: 100 },
        after: { balance: 70, units: -30 },
      },
    ]);
  });

  test('20 simultaneous postings with one reference post once', async () => {
    const world = await startManage(adapter);
    const { operator, finance } = world;
    await operator.done('manage/accounts', { id: 'shop', name: 'Shop' });
    const body = { units: 7, reference: 'one' };
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => finance.post('manage/accounts/shop/topups', body)),
    );
    expect(replies.map(({ status, body: reply }) => [status, (reply as PostingView).balance])).toEqual(
      Array.from({ length: 20 }, () => [200, 7]),
    );
    expect(await operator.read('manage/accounts/shop')).toMatchObject({ balance: 7 });
    expect((await audited(world)).filter(({ action }) => action === 'balance.topped_up')).toHaveLength(1);
  });

  test('an Idempotency-Key belongs to an operator and a path', async () => {
    const world = await startManage(adapter);
    const { operator, as } = world;
    const key = { 'idempotency-key': 'k' };
    const make = (client = operator, body: object = { name: 'Shop' }) => client.post('manage/accounts', body, key);
    const first = await make();
    const again = await make();
    expect(again).toMatchObject({ status: 200, body: first.body });
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect((await make(operator, { name: 'Other' })).status).toBe(422);
    const other = await make(as({ subject: 'omar', role: 'operator' }));
    expect((other.body as AccountView).id).not.toBe((first.body as AccountView).id);
    const { id } = first.body as AccountView;
    for (const what of ['suspend', 'resume', 'suspend']) {
      await operator.post(`manage/accounts/${id}/${what}`, undefined, key);
    }
    // The second suspension is a replay of the first.
    expect(await operator.read(`manage/accounts/${id}`)).toMatchObject({ state: 'active' });
    expect((await audited(world, id)).map(({ action }) => action)).toEqual([
      'account.created',
      'account.suspended',
      'account.resumed',
    ]);
  });

  test('each role has exactly its rights, and neither keys nor users of accounts have any', async () => {
    const world = await startManage(adapter);
    const { operator, support, finance, as } = world;
    await operator.done('manage/accounts', { id: 'shop', name: 'Shop' });
    const admin = as({ accountId: 'shop', subject: 'ada', role: 'admin' });
    const plain = as({ accountId: 'shop' });
    const client = await clientOf(world);
    const topUp = { units: 1, reference: 'r' };
    const table: [method: string, path: string, body: object | undefined, least: number][] = [
      ['GET', 'manage/accounts', undefined, 0],
      ['GET', 'manage/accounts/shop', undefined, 0],
      ['GET', 'manage/signatures', undefined, 0],
      ['POST', 'manage/accounts/shop/topups', topUp, 1],
      ['POST', 'manage/accounts/shop/adjustments', { units: 1, reference: 's' }, 1],
      ['POST', 'manage/accounts', { name: 'x' }, 2],
      ['PATCH', 'manage/accounts/shop', { name: 'y' }, 2],
      ['POST', 'manage/accounts/shop/suspend', undefined, 2],
      ['POST', 'manage/accounts/shop/resume', undefined, 2],
      ['POST', 'manage/accounts/shop/close', undefined, 2],
    ];
    for (const [method, path, body, least] of table) {
      const asked = { method, ...(body && { body }) };
      const statuses = await Promise.all(
        [support, finance, operator, admin, plain, client].map(async (each) => (await each.call(path, asked)).status),
      );
      expect([path, ...statuses]).toEqual([
        path,
        ...[0, 1, 2].map((rank) => (rank < least ? 403 : 200)),
        403,
        403,
        403,
      ]);
    }
  });

  test('signatures of all accounts are listed with the pending ones first, and decided with a reason', async () => {
    const world = await startManage(adapter);
    const { operator, support, app, clock } = world;
    const signatures = app.get(SignatureService, { strict: false });
    for (const [id, name] of [
      ['a', 'ONE'],
      ['b', 'TWO'],
      ['a', 'THREE'],
    ] as const) {
      await operator.post('manage/accounts', { id, name: id });
      await signatures.register(id, name);
      clock.advance(1);
    }
    expect(await operator.done('manage/accounts/b/signatures/TWO/reject', { reason: 'Not yours' })).toMatchObject({
      account: 'b',
      name: 'TWO',
      status: 'rejected',
      reason: 'Not yours',
      is_default: false,
    });
    expect(await operator.done('manage/accounts/a/signatures/ONE/verify')).toMatchObject({ status: 'verified' });
    const walk = async (query: string) => {
      const names: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await support.read<ManagedSignaturePage>(`manage/signatures?limit=1${query}${cursor}`);
        names.push(...page.items.map(({ account, name, status }) => `${account} ${name} ${status}`));
        if (page.next_cursor === null) return names;
        cursor = `&cursor=${page.next_cursor}`;
      }
    };
    expect(await walk('')).toEqual(['a THREE pending', 'b TWO rejected', 'a ONE verified']);
    expect(await walk('&status=pending')).toEqual(['a THREE pending']);
    expect((await support.call('manage/signatures?status=none')).status).toBe(400);
    expect((await support.call('manage/signatures?cursor=W10')).status).toBe(400);
    const decided = (await audited(world)).filter(({ action }) => /verified|rejected/.test(action));
    expect(decided).toMatchObject([
      { accountId: 'b', action: 'signature.rejected', target: 'TWO', by: { id: 'odile' } },
      { accountId: 'a', action: 'signature.verified', target: 'ONE', by: { id: 'odile' } },
    ]);
  });

  test('a posting by the host is in the audit log too', async () => {
    const world = await startManage(adapter);
    await world.operator.done('manage/accounts', { id: 'shop', name: 'Shop' });
    await world.app.get(LedgerService, { strict: false }).topUp('shop', 5);
    expect((await audited(world)).at(-1)).toMatchObject({ action: 'balance.topped_up', by: { kind: 'host' } });
  });
});
