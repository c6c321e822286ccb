import { expect, test } from '@jest/globals';
import type { AuditPage } from '../../../src/accounts/audit/audit.api.js';
import { maskNumber } from '../../../src/common/phone-numbers/phone-number.js';
import type { ManagedSessionPage } from '../../../src/management/operator/managed-session.api.js';
import type { OptOutPage } from '../../../src/management/optouts/optout.api.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { eventually } from '../../support/common/eventually.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { startManage } from '../../support/management/manage-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';

unmountAfterEach();

describeOnOneAdapter('the operators’ view of all accounts', (adapter) => {
  test('linked numbers are listed, filtered and unlinked', async () => {
    const world = await startManage(adapter, { msgapp: MSGAPP });
    const { operator, support, app, clock } = world;
    const [one, two] = [await clientOf(world), await clientOf(world)];
    const ids: string[] = [];
    for (const client of [one, two, one]) {
      const { status, body } = await client.post('msgapp/web/connect', undefined);
      expect(status).toBe(200);
      ids.push((body as { sessionID: string }).sessionID);
      clock.advance(1);
    }
    const read = (query: string) => support.read<ManagedSessionPage>(`manage/sessions${query}`);
    const listed = async (query: string) => (await read(query)).items.map(({ id }) => id);
    expect(await listed('')).toEqual(ids.toReversed());
    const page = await read('?limit=2');
    expect(await listed(`?limit=2&cursor=${page.next_cursor}`)).toEqual([ids[0]]);
    expect(await listed(`?account=${two.accountId}`)).toEqual([ids[1]]);
    expect(page.items[0]).toMatchObject({
      account: one.accountId,
      channel: 'msgapp',
      number: null,
      status: 'created',
      connected_at: null,
    });
    expect((await support.call('manage/sessions?status=gone')).status).toBe(400);
    const unlink = (client = operator) => client.call(`manage/sessions/${ids[1]}`, { method: 'DELETE' });
    expect((await unlink(support)).status).toBe(403);
    expect(await unlink()).toMatchObject({ status: 200, body: { success: true } });
    expect((await unlink()).status).toBe(200);
    const store = app.get(SessionStore, { strict: false });
    await eventually(
      () => store.find(ids[1] ?? ''),
      (session) => session?.status === 'logged_out',
      { clock },
    );
    expect(await listed('?status=logged_out')).toEqual([ids[1]]);
    expect((await operator.call('manage/sessions/none', { method: 'DELETE' })).status).toBe(404);
    const { items } = await support.read<AuditPage>(`manage/audit?account=${two.accountId}&action=number.unlinked`);
    expect(items).toMatchObject([{ by: { kind: 'operator', id: 'odile' }, target: ids[1] }]);
  });

  test('linking and unlinking by an account’s own routes is audited once, and a refused attempt is not', async () => {
    const world = await startManage(adapter, { msgapp: { ...MSGAPP, connects: { waiting: 1 } } });
    const client = await clientOf(world);
    const connect = () => client.post('msgapp/web/connect', undefined);
    const { body } = await connect();
    const { sessionID } = body as { sessionID: string };
    expect((await connect()).status).toBe(429);
    const unlink = (id: string) => client.call(`msgapp/web/${id}`, { method: 'DELETE' });
    expect((await unlink('none')).status).toBe(404);
    expect((await unlink(sessionID)).status).toBe(200);
    expect((await unlink(sessionID)).status).toBe(200);
    const { items } = await world.support.read<AuditPage>(`manage/audit?account=${client.accountId}`);
    const entries = items.filter(({ action }) => action.startsWith('number.'));
    expect(entries).toMatchObject([
      {
        action: 'number.unlinked',
        target: sessionID,
        by: { kind: 'key' },
        before: { status: 'created', number: null },
      },
      { action: 'number.connect_requested', target: sessionID, by: { kind: 'key' } },
    ]);
    expect(entries).toHaveLength(2);
  });

  test('opt-outs hold for all accounts', async () => {
    const world = await startManage(adapter);
    const { operator, support, app } = world;
    const client = await clientOf(world);
    const body = { signature: 'INFOS', numbers: [phoneOf(1), phoneOf(2)] };
    expect(await operator.done('manage/optouts', body)).toEqual({ added: 2 });
    const { items } = await support.read<OptOutPage>('manage/optouts');
    expect(items.map(({ number }) => number).sort()).toEqual(body.numbers.map(maskNumber));
    const own = await support.read<OptOutPage>(`optouts?account=${client.accountId}`);
    expect(own.items).toEqual([]);
    expect(await client.send({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(1)] })).toMatchObject({
      body: { sms_units: 0 },
    });
    expect((await support.post('manage/optouts', body)).status).toBe(403);
    const gone = items.find(({ number }) => number === maskNumber(phoneOf(1)));
    const remove = () => operator.call(`manage/optouts/${gone?.id}`, { method: 'DELETE' });
    expect([(await remove()).status, (await remove()).status]).toEqual([200, 404]);
    expect((await app.get(OptOutService, { strict: false }).list()).items).toHaveLength(1);
    const audit = await support.read<AuditPage>('manage/audit');
    expect(
      audit.items.filter(({ action }) => action.startsWith('optout')).map(({ action, account }) => [action, account]),
    ).toEqual([
      ['optout.removed', null],
      ['optout.added', null],
    ]);
  });

  test('changes of all accounts are listed by account and action', async () => {
    const { operator, support } = await startManage(adapter);
    for (const id of ['a', 'b']) await operator.done('manage/accounts', { id, name: id });
    await operator.done('manage/accounts/a/suspend');
    const targets = async (query: string) => {
      const { items } = await support.read<AuditPage>(`manage/audit${query}`);
      return items.map(({ action, target }) => `${action} ${target}`);
    };
    expect(await targets('')).toEqual(['account.suspended a', 'account.created b', 'account.created a']);
    expect(await targets('?account=a&limit=1')).toEqual(['account.suspended a']);
    expect(await targets('?action=account.created')).toEqual(['account.created b', 'account.created a']);
    expect((await support.call('manage/audit?action=none')).status).toBe(400);
  });
});
