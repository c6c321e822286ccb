import { expect, test } from '@jest/globals';
import type { QueuesView } from '../../../src/management/operator/operations/queues.api.js';
import { OperatingSwitches } from '../../../src/outbox/operating-state.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { settled } from '../../support/common/settled.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { type Adapter, describeOnOneAdapter } from '../../support/http/http-apps.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { startManage } from '../../support/management/manage-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';

unmountAfterEach();

/** A service whose carrier refuses expired messages, as every transport does. */
async function startQueues(adapter: Adapter, over: { clock?: FakeClock; storage?: SqliteMemory } = {}) {
  const clock = over.clock ?? new FakeClock();
  const carrier = new ScriptedTransport(({ expiresAt = Number.MAX_SAFE_INTEGER }) =>
    expiresAt <= clock.now()
      ? { kind: 'refused', error: 'expired', unasked: true }
      : { kind: 'sent', final: 'delivered' },
  );
  const world = await startManage(
    adapter,
    { sms: { ...OPTIONS.sms, transport: { useValue: carrier } }, otp: { pepper: PEPPER } },
    { ...over, clock },
  );
  const sms = (index: number) => ({ signature: 'INFOS', content: 'Bonjour', number: [phoneOf(index)] });
  const numbers = () => carrier.taken.map(({ number }) => number);
  const taken = (index: number) => eventually(() => numbers().includes(phoneOf(index)), Boolean, { clock });
  const queues = () => world.support.read<QueuesView>('manage/queue');
  const depthOf = async (priority: string) =>
    (await queues()).items.find((item) => item.priority === priority && item.channel === 'sms');
  return { ...world, carrier, sms, numbers, taken, queues, depthOf };
}

describeOnOneAdapter('the operators’ routes for queues', (adapter) => {
  test('a paused account waits, codes too, while others are served; its messages leave when it is resumed', async () => {
    const world = await startQueues(adapter);
    const { operator, clock, sms, numbers, taken, queues, depthOf } = world;
    const [paused, other] = [await clientOf(world), await clientOf(world)];
    const scope = { account: paused.accountId };
    const since = new Date(clock.now()).toISOString();
    const pause = { channel: null, ...scope, since };
    expect(await operator.done('manage/queue/pause', scope)).toEqual({ paused: [pause] });
    expect(await operator.done('manage/queue/pause', scope)).toEqual({ paused: [pause] });
    const accepted = new Date(clock.now()).toISOString();
    await paused.sent(sms(1));
    expect((await paused.post('send/otp', { service: 'Boutique', number: phoneOf(2) })).status).toBe(200);
    await other.sent(sms(3));
    await taken(3);
    expect(numbers()).toEqual([phoneOf(3)]);
    expect((await queues()).paused).toEqual([pause]);
    expect(await depthOf('normal')).toEqual({ channel: 'sms', priority: 'normal', depth: 1, oldest_due: accepted });
    expect(await depthOf('code')).toEqual({ channel: 'sms', priority: 'code', depth: 1, oldest_due: accepted });
    expect(await depthOf('bulk')).toEqual({ channel: 'sms', priority: 'bulk', depth: 0, oldest_due: null });
    expect(await operator.done('manage/queue/resume', scope)).toEqual({ paused: [] });
    await Promise.all([taken(1), taken(2)]);
    expect((await queues()).items.every(({ depth }) => depth === 0)).toBe(true);
  });

  test('a code that expires while its channel is paused is refunded when the channel is resumed', async () => {
    const world = await startQueues(adapter);
    const { operator, clock, carrier } = world;
    const client = await clientOf(world);
    await operator.done('manage/queue/pause', { channel: 'sms' });
    const before = await client.balance();
    await client.post('send/otp', { service: 'Boutique', number: phoneOf(1) });
    expect(await client.balance()).toBe(before - 1);
    for (let minutes = 0; minutes < 60; minutes++) {
      clock.advance(60_000);
      await settled();
    }
    expect(carrier.taken).toEqual([]);
    await operator.done('manage/queue/resume', { channel: 'sms' });
    await eventually(
      () => client.balance(),
      (balance) => balance === before,
      { clock },
    );
  });

  test('pausing an account on one channel does not pause it elsewhere, and has its own resume', async () => {
    const { operator, app, clock } = await startQueues(adapter);
    await operator.done('manage/accounts', { id: 'a', name: 'A' });
    await operator.done('manage/queue/pause', { channel: 'sms', account: 'a' });
    clock.advance(1);
    await operator.done('manage/queue/pause', { account: 'a' });
    expect(await operator.done('manage/queue/resume', { channel: 'sms', account: 'a' })).toMatchObject({
      paused: [{ channel: null, account: 'a' }],
    });
    const switches = app.get(OperatingSwitches, { strict: false });
    expect(await switches.pausedOf('wa')).toEqual(['a']);
  });

  test('wrong input is refused, and changes nothing', async () => {
    const { operator, support, finance, queues } = await startQueues(adapter);
    for (const [body, status] of [
      [{}, 400],
      [{ channel: 'fax' }, 400],
      [{ channel: 1 }, 400],
      [{ account: 'nobody' }, 404],
      [{ account: '\0' }, 404],
    ] as const) {
      expect([body, (await operator.post('manage/queue/pause', body)).status]).toEqual([body, status]);
    }
    for (const each of [support, finance]) {
      expect((await each.post('manage/queue/pause', { channel: 'sms' })).status).toBe(403);
    }
    expect((await queues()).paused).toEqual([]);
  });

  test('each change is in the audit log once, also under an Idempotency-Key', async () => {
    const world = await startQueues(adapter);
    const { operator, support } = world;
    const key = { 'idempotency-key': 'k' };
    const pause = () => operator.post('manage/queue/pause', { channel: 'sms' }, key);
    await pause();
    await operator.done('manage/queue/resume', { channel: 'sms' });
    expect((await pause()).headers.get('idempotency-replayed')).toBe('true');
    expect((await support.read<QueuesView>('manage/queue')).paused).toEqual([]);
    const rows = world.storage.database.prepare('SELECT action, target, by_id FROM messaging_audit ORDER BY id').all();
    expect(rows).toEqual([
      { action: 'queue.paused', target: 'sms', by_id: 'odile' },
      { action: 'queue.resumed', target: 'sms', by_id: 'odile' },
    ]);
  });

  test('another process on the database claims nothing more within five seconds', async () => {
    const clock = new FakeClock();
    const storage = await SqliteMemory.open();
    const first = await startQueues(adapter, { clock, storage });
    const second = await startQueues(adapter, { clock, storage: await storage.another() });
    const client = await clientOf(second);
    await first.operator.done('manage/queue/pause', { channel: 'sms' });
    // Each process has a notifier of its own here, so the second one is not notified.
    clock.advance(5000);
    await client.sent(second.sms(1));
    const rounds = () => [first, second].map(({ carrier }) => carrier.taken.length);
    for (let step = 0; step < 50; step++) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    expect(rounds()).toEqual([0, 0]);
    await first.operator.done('manage/queue/resume', { channel: 'sms' });
    await eventually(rounds, (each) => each.includes(1), { clock });
  });
});
