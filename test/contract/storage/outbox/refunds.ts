import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aMove, aSend, messageId, onceKey, phone, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

export function refundTests({ test }: TestRunner, world: StorageFixture): void {
  const id = messageId(1);
  const refunded = async () => (await world.outbox.find(ACCOUNT, 'sms', id))?.refundedUnits;

  test('a failed recipient’s units are refunded, and every view shows it', async () => {
    await world.fund(10);
    await world.accept(aSend(1, { recipients: recipients(3, 2) }));
    await world.claim();
    const moved = await world.settle(id, 'failed', { position: 1, attempt: 1, error: 'refused' });
    const back = { units: 2, refund: 2, refundedUnits: 2, at: START + SECOND_MS };
    assert.deepEqual(moved, [aMove(1, { position: 1, number: phone(1), status: 'failed', error: 'refused', ...back })]);
    assert.deepEqual(
      (await world.outbox.recipients(id)).map(({ status, refundedUnits }) => [status, refundedUnits]),
      [
        ['sending', 0],
        ['failed', 2],
        ['sending', 0],
      ],
    );
    assert.equal(await refunded(), 2);
    assert.equal((await world.outbox.find(ACCOUNT, 'sms', id))?.units, 6);
    await world.holds(6);
  });

  test('a recipient is refunded once, whatever is reported again', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { recipients: recipients(1, 2) }));
    await world.claim();
    const failure = { messageId: id, position: 0, status: 'failed', at: START } as const;
    const moved = await world.outbox.settle([failure, { ...failure, attempt: 1 }, failure]);
    assert.deepEqual(
      moved.map(({ refund }) => refund),
      [2],
    );
    assert.deepEqual(await world.outbox.settle([failure, { ...failure, attempt: 1, at: START + SECOND_MS }]), []);
    assert.deepEqual(await world.settle(id, 'delivered'), []);
    assert.equal(await refunded(), 2);
    await world.holds(2);
  });

  test('only a failure refunds units', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'unknown', 'read'] as const;
    await world.fund(ends.length);
    await world.accept(aSend(1, { recipients: recipients(ends.length) }));
    await world.claim();
    for (const [position, status] of ends.entries()) {
      const [moved] = await world.settle(id, status, { position, attempt: 1 });
      assert.equal(moved?.refund, 0);
    }
    assert.equal(await refunded(), 0);
    await world.holds(0);
  });

  test('a failure that is reported late is refunded too', async () => {
    await world.fund(2);
    await world.accept(aSend(1), aSend(2));
    await world.claim();
    await world.settle(id, 'sent', { attempt: 1 });
    await world.settle(messageId(2), 'unknown', { attempt: 1 });
    assert.equal((await world.settle(id, 'failed'))[0]?.refund, 1);
    assert.equal((await world.settle(messageId(2), 'failed'))[0]?.refund, 1);
    await world.holds(2);
  });

  test('refunds of one call go to their accounts, recipient by recipient', async () => {
    await world.fund(6);
    await world.fund(9, 'acc2');
    await world.accept(
      aSend(1, { recipients: recipients(3, 2) }),
      aSend(2, { accountId: 'acc2', recipients: recipients(3, 3) }),
    );
    await world.claim();
    const failed = (message: number, position: number) =>
      ({ messageId: messageId(message), position, status: 'failed', attempt: 1, at: START }) as const;
    const moved = await world.outbox.settle([failed(1, 0), failed(2, 2), failed(1, 2), failed(2, 0), failed(2, 1)]);
    assert.deepEqual(
      moved.map(({ accountId, refund }) => [accountId, refund]),
      [
        [ACCOUNT, 2],
        ['acc2', 3],
        [ACCOUNT, 2],
        ['acc2', 3],
        ['acc2', 3],
      ],
    );
    await world.holds(4);
    await world.holds(9, 'acc2');
  });

  test('a recipient that cost nothing is refunded nothing', async () => {
    await world.fund(0);
    await world.accept(aSend(1, { recipients: recipients(1, 0) }));
    await world.claim();
    assert.equal((await world.settle(id, 'failed', { attempt: 1 }))[0]?.refund, 0);
    assert.equal(await refunded(), 0);
    await world.holds(0);
  });

  test('refunded units can be spent again', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    assert.equal((await world.commit(aSend(2)))[0]?.kind, 'refused');
    await world.claim();
    await world.settle(id, 'failed', { attempt: 1 });
    await world.accept(aSend(2));
    await world.holds(0);
  });

  test('a refund does not change a replayed answer', async () => {
    await world.fund(1);
    const reply = { smsID: id, sms_units: 1 };
    await world.accept(aSend(1, { once: onceKey(), reply }));
    await world.claim();
    await world.settle(id, 'failed', { attempt: 1 });
    assert.deepEqual(await world.commit(aSend(2, { once: onceKey() })), [{ kind: 'replayed', reply }]);
  });
}
