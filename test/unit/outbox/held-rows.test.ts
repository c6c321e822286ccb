import { describe, expect, jest, test } from '@jest/globals';
import type { DeliveryUpdate } from '../../../src/outbox/delivery-state.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';
import { passRow } from '../../../src/outbox/settle/held-rows.js';
import { SqliteHandle } from '../../../src/storage/sqlite/sqlite-handle.js';
import { aSend, messageId } from '../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { DeliveryFixture } from '../../support/outbox/delivery-fixture.js';

const opened = closeAfterEach();
const open = async () => opened(await DeliveryFixture.open());

async function claim({ storage, clock }: DeliveryFixture): Promise<readonly Delivery[]> {
  const now = clock.now();
  return storage.outbox.claim({ channel: 'sms', limit: 10, now, leaseUntil: now + 1000, abandoned: false });
}

/** An update of a worker, which knows the row. */
function updateOf(delivery: Delivery, over: Partial<DeliveryUpdate> = {}): DeliveryUpdate {
  const { messageId: id, position, attempt, acceptedAt } = delivery;
  const update = { messageId: id, position, attempt, status: 'delivered', at: acceptedAt + 5, ...over } as const;
  passRow(delivery, update);
  return update;
}

/** Runs work and returns how often it read recipients for a settlement. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  const execute = jest.spyOn(SqliteHandle.prototype, 'execute');
  await work();
  const reads = execute.mock.calls.filter(([{ sql }]) => sql.includes('r.refunded_units, r.attempt, r.tries'));
  execute.mockRestore();
  return reads.length;
}

describe('the result of a delivery whose row is as its claim has left it', () => {
  test('is stored without a read of the row, with the same transition', async () => {
    const world = await open();
    const metadata = { order: '4711' };
    await world.accept(aSend(0, { metadata }), aSend(1, { metadata }));
    const [first, second] = await claim(world);
    if (!first || !second) throw new Error('Nothing was claimed.');
    const entry = { at: 7, route: 'near', outcome: 'sent' } as const;
    let known: unknown;
    let read: unknown;
    const reads = await countReads(async () => {
      known = await world.storage.outbox.settle([updateOf(first, { trail: [entry] })]);
    });
    const others = await countReads(async () => {
      read = await world.storage.outbox.settle([{ ...updateOf(second, { trail: [entry] }) }]);
    });
    expect([reads, others]).toEqual([0, 1]);
    expect(known).toMatchObject([{ messageId: messageId(0), status: 'delivered', metadata, units: 1, refund: 0 }]);
    expect(
      JSON.stringify(known).replaceAll(first.messageId, second.messageId).replaceAll(first.number, second.number),
    ).toBe(JSON.stringify(read));
  });

  test('refunds a failure once', async () => {
    const world = await open();
    await world.accept(aSend(0));
    const [delivery] = await claim(world);
    if (!delivery) throw new Error('Nothing was claimed.');
    const failed = updateOf(delivery, { status: 'failed', error: 'refused' });
    expect(await world.storage.outbox.settle([failed])).toMatchObject([{ status: 'failed', refund: 1 }]);
    expect(await world.storage.outbox.settle([failed])).toEqual([]);
    expect([await world.balance(), await world.books()]).toEqual([1000, []]);
  });
});

describe('the result of a delivery whose row has changed since its claim', () => {
  test('changes nothing after a receipt, and the others of its batch are stored', async () => {
    const world = await open();
    await world.accept(aSend(0), aSend(1));
    const deliveries = await claim(world);
    const at = world.clock.now();
    await world.storage.outbox.settle([{ messageId: messageId(0), position: 0, status: 'delivered', at }]);
    const failures = deliveries.map((delivery) => updateOf(delivery, { status: 'failed', error: 'refused' }));
    expect(await world.storage.outbox.settle(failures)).toMatchObject([{ messageId: messageId(1), refund: 1 }]);
    expect([await world.status(0), await world.status(1)]).toEqual(['delivered', 'failed']);
    expect([await world.balance(), await world.books()]).toEqual([999, []]);
  });

  test('changes nothing if another worker has claimed it after the end of the lease', async () => {
    const world = await open();
    await world.accept(aSend(0));
    const [delivery] = await claim(world);
    if (!delivery) throw new Error('Nothing was claimed.');
    const now = world.clock.now() + 2000;
    await world.storage.outbox.claim({ channel: 'sms', limit: 10, now, leaseUntil: now + 1000, abandoned: true });
    expect(await world.storage.outbox.settle([updateOf(delivery, { status: 'failed', error: 'refused' })])).toEqual([]);
    expect([await world.status(), await world.balance()]).toEqual(['sending', 999]);
  });
});
