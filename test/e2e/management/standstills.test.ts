import { expect, test } from '@jest/globals';
import { eventually } from '../../support/common/eventually.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startManage } from '../../support/management/manage-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

unmountAfterEach();

describeOnOneAdapter('what stands still, in the answer of GET /me', (adapter) => {
  const carrier = new ScriptedTransport(() => ({ kind: 'sent', final: 'delivered' }));

  async function start() {
    const world = await startManage(adapter, {
      sms: { ...OPTIONS.sms, transport: { useValue: carrier } },
      webhooks: { pepper: WEBHOOK_PEPPER, allow: 'loopback' },
    });
    const [one, other] = [await clientOf(world), await clientOf(world)];
    const userOf = ({ accountId }: { readonly accountId: string }) =>
      world.as({ subject: 'awa', accountId, role: 'viewer' });
    /** The standstills of a caller. A process sees a pause after at most a notice, so it is asked until it does. */
    const seen = (user: typeof world.operator, count: number) =>
      eventually(
        async () => (await user.read<{ standstills: readonly unknown[] }>('me')).standstills,
        ({ length }) => length === count,
        { clock: world.clock },
      );
    return { ...world, one, users: [userOf(one), userOf(other)] as const, seen };
  }

  test('a paused account sees its pause, another one does not, and the operator sees all', async () => {
    const { operator, one, users, seen } = await start();
    const scope = { channel: 'sms', account: one.accountId };
    await operator.done('manage/queue/pause', scope);
    const pause = { kind: 'deliveries_paused', channel: 'sms', target: one.accountId };
    expect(await seen(users[0], 1)).toEqual([pause]);
    expect(await seen(users[1], 0)).toEqual([]);
    expect(await seen(operator, 1)).toEqual([pause]);
    await operator.done('manage/queue/resume', scope);
    expect(await seen(users[0], 0)).toEqual([]);
  });

  test('a channel whose only route rests is named to everybody; a key is told nothing', async () => {
    const { operator, one, users, seen } = await start();
    await operator.done(`manage/carriers/${carrier.name}/rest`);
    const without = { kind: 'no_route', channel: 'sms', target: null };
    for (const user of [...users, operator]) expect(await seen(user, 1)).toEqual([without]);
    expect((await one.call('me')).body).toMatchObject({ standstills: [] });
  });

  test('an endpoint is named after it has failed for five minutes, or was disabled for it', async () => {
    const { users, one, as, seen, clock, storage } = await start();
    const developer = as({ subject: 'ali', accountId: one.accountId, role: 'developer' });
    const { id } = await developer.done<{ id: string }>('webhooks', { url: 'http://127.0.0.1:9/', types: ['*'] });
    const set = (change: string, ...values: unknown[]) =>
      storage.dataSource.query(`UPDATE messaging_endpoint SET ${change} WHERE id = ?`, [...values, id]);
    await set('failing_since = ?', clock.now() - 299_999);
    expect(await seen(users[0], 0)).toEqual([]);
    await set('failing_since = ?', clock.now() - 300_000);
    const failing = { kind: 'webhook_failing', channel: null, target: id };
    expect(await seen(users[0], 1)).toEqual([failing]);
    expect(await seen(users[1], 0)).toEqual([]);
    await set("status = 'disabled', reason = 'requested'");
    expect(await seen(users[0], 0)).toEqual([]);
    await set("reason = 'failing'");
    expect(await seen(users[0], 1)).toEqual([failing]);
  });
});
