import assert from 'node:assert/strict';
import { ACCOUNT, aSend, messageId, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import { LEASE, type World } from './world.js';

export function nextDueTests({ test }: TestRunner, world: World): void {
  const next = (channel = 'sms') => world.outbox.nextDue(channel);

  test('nothing waits on an empty channel', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { channel: 'wa' }));
    assert.equal(await next(), undefined);
    assert.equal(await next('wa'), START);
  });

  test('the earliest delivery says when', async () => {
    await world.fund(3);
    for (const [index, time] of [30, 10, 20].entries()) await world.accept(aSend(index, { at: START + time }));
    assert.equal(await next(), START + 10);
  });

  test('a retry says when it is to be tried again', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START + 7 * SECOND });
    assert.equal(await next(), START + 7 * SECOND);
  });

  test('the end of a lease and a report deadline count: somebody must look then', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    assert.equal(await next(), START + LEASE);
    await world.settle(messageId(1), 'sent', { attempt: 1, dueAt: START + 99 * SECOND });
    assert.equal(await next(), START + 99 * SECOND);
  });

  test('what needs nobody any more does not count', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
    await world.fund(ends.length);
    for (const [index, status] of ends.entries()) {
      await world.accept(aSend(index));
      await world.claim();
      await world.settle(messageId(index), status, { attempt: 1 });
      assert.equal(await next(), undefined, status);
    }
  });

  test('lanes count like the rest', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { lane: 'a', accountId: ACCOUNT, at: START + 5 }));
    assert.equal(await next(), START + 5);
  });
}
