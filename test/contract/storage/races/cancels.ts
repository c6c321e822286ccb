import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { Delivery } from '../../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import type { CanceledSlice } from '../../../../src/outbox/settle/cancel.js';
import { ACCOUNT, aSend, messageId, recipients, START } from '../fixtures.js';
import { LEASE, places } from '../storage-fixture.js';
import { atOnce, type Race, tally } from './race.js';

const claims = { channel: 'sms', now: START, leaseUntil: START + LEASE, abandoned: false };
const order = { accountId: ACCOUNT, messageId: messageId(1), from: 0, at: START + SECOND_MS };

/** Races of a cancellation: each recipient is canceled or handed over, and the units follow. */
export const CANCEL_RACES: Readonly<Record<string, Race>> = {
  '10 cancellations and 10 claims at once: a recipient is either canceled and refunded, or claimed': async (
    world,
    hand,
  ) => {
    const count = 100;
    await world.fund(count);
    await world.accept(aSend(1, { recipients: recipients(count) }));
    const results = await atOnce<readonly Delivery[] | CanceledSlice>(20, (index) => {
      const store = hand(index).store(OutboxStore);
      return index % 2 === 0 ? store.claim({ ...claims, limit: 7 }) : store.cancel(order);
    });
    const claimed = results.flatMap((result) => ('transitions' in result ? [] : places(result)));
    const canceled = results.flatMap((result) => ('transitions' in result ? result.transitions : []));
    const left = await world.outbox.cancel(order);
    const all = [...canceled, ...left.transitions];
    // No recipient is in both, and none is canceled twice.
    assert.deepEqual([...tally([...claimed, ...places(all)]).values()], Array(count).fill(1));
    assert.equal(
      all.reduce((sum, { refund }) => sum + refund, 0),
      all.length,
    );
    assert.deepEqual(await world.outbox.countCanceled(messageId(1), undefined, ACCOUNT), {
      recipients: count,
      canceled: all.length,
    });
    await world.holds(all.length);
  },

  '20 cancellations at once: each recipient is refunded once': async (world, hand) => {
    await world.fund(60);
    await world.accept(aSend(1, { recipients: recipients(60) }));
    const slices = await atOnce(20, (index) => hand(index).store(OutboxStore).cancel(order));
    assert.equal(slices.flatMap(({ transitions }) => transitions).length, 60);
    await world.holds(60);
  },
};
