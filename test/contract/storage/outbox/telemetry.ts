import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { StorageMeter } from '../../../../src/telemetry/storage-meter.js';
import type { TestRunner } from '../../test-runner.js';
import { aSend, messageId, START } from '../fixtures.js';
import { LEASE, type StorageFixture } from '../storage-fixture.js';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** The values that telemetry needs from a storage. */
export function telemetryTests({ test }: TestRunner, world: StorageFixture): void {
  test('the trace of a send is part of all its changes, and its neighbour in the commit has none', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { trace: TRACE }), aSend(2));
    const claimed = await world.claim();
    const traceOf = (of: readonly { readonly messageId: string; readonly trace?: string | undefined }[], id: number) =>
      of.find((each) => each.messageId === messageId(id))?.trace;
    assert.deepEqual([traceOf(claimed, 1), traceOf(claimed, 2)], [TRACE, undefined]);
    const moved = await world.outbox.settle(
      claimed.map(({ messageId: id, position }) => ({
        messageId: id,
        position,
        attempt: 1,
        at: START + 1,
        status: 'sent',
        dueAt: START + SECOND_MS,
      })),
    );
    assert.deepEqual([traceOf(moved, 1), traceOf(moved, 2)], [TRACE, undefined]);
    const order = { channel: 'sms', limit: 10, now: START + 2 * SECOND_MS, statuses: ['sent'] } as const;
    const expired = await world.outbox.expire(order);
    assert.deepEqual([traceOf(expired, 1), traceOf(expired, 2)], [TRACE, undefined]);
    assert.deepEqual(await world.outbox.traces([messageId(1), messageId(2)]), [TRACE]);
  });

  test('a claim shows which deliveries another worker held until its lease ended', async () => {
    await world.fund(2);
    await world.accept(aSend(1));
    await world.claim();
    await world.accept(aSend(2, { at: START + LEASE }));
    const claimed = await world.claim({ now: START + LEASE, abandoned: true });
    const abandoned = claimed.map(({ messageId: id, abandoned: was }) => [id, was]);
    assert.deepEqual(new Map(abandoned as [string, boolean][]).get(messageId(1)), true);
    assert.deepEqual(new Map(abandoned as [string, boolean][]).get(messageId(2)), undefined);
  });

  test('gauges show what is waiting and since when it is due', async () => {
    const { storage } = world;
    await world.fund(3);
    await world.accept(
      aSend(1, { priority: 'code' }),
      aSend(2, { at: START + SECOND_MS }),
      aSend(3, { channel: 'other' }),
    );
    await world.claim({ limit: 1 });
    const now = START + 2 * SECOND_MS;
    const { open, due, scheduled } = await storage.store(StorageMeter).measure({ now, channels: ['sms'] });
    const count = (status: string) => open.find((each) => each.channel === 'sms' && each.status === status)?.count;
    assert.deepEqual([count('queued'), count('sending')], [1, 1]);
    assert.deepEqual(due, [{ channel: 'sms', priority: 'normal', since: START + SECOND_MS }]);
    assert.deepEqual(scheduled, [{ channel: 'sms', count: 0 }]);
  });

  test('a gauge counts what waits for a later time, until it is due', async () => {
    const { storage } = world;
    await world.fund(3);
    const sendAt = START + 10 * SECOND_MS;
    await world.accept(aSend(1), aSend(2, { schedule: { sendAt } }), aSend(3, { schedule: { sendAt } }));
    const waiting = async (now: number) =>
      (await storage.store(StorageMeter).measure({ now, channels: ['sms'] })).scheduled;
    assert.deepEqual(await waiting(sendAt - 1), [{ channel: 'sms', count: 2 }]);
    assert.deepEqual(await waiting(sendAt), [{ channel: 'sms', count: 0 }]);
  });
}
