import assert from 'node:assert/strict';
import { MessagingError } from '../../../../src/common/errors.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../src/common/time.js';
import type { Delivery } from '../../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { RESCHEDULE_SLICE } from '../../../../src/outbox/schedule/reschedule.js';
import { ACCOUNT, aSend, messageId, recipients, START } from '../fixtures.js';
import { LEASE } from '../storage-fixture.js';
import { atOnce, type Race } from './race.js';

const sendAt = START + HOUR_MS;

/** Reschedules a send; returns whether that was still possible. */
async function reschedule(store: OutboxStore, index: number, count: number, to: number): Promise<boolean> {
  const message = {
    id: messageId(index),
    accountId: ACCOUNT,
    channel: 'sms',
    recipients: count,
    acceptedAt: START,
  };
  try {
    return await store.reschedule({ message, change: { sendAt: to }, at: START + SECOND_MS });
  } catch (error) {
    if (error instanceof MessagingError && error.code === 'error.already_sending') return false;
    throw error;
  }
}

/** Races of a change of the schedule: either it changes all recipients, or a worker has claimed one before. */
export const RESCHEDULE_RACES: Readonly<Record<string, Race>> = {
  'sends rescheduled while they are claimed: each is moved as a whole, or not at all': async (world, hand) => {
    const sends = 20;
    const count = 5;
    await world.fund(sends * count);
    const scheduled = (index: number) => aSend(index, { recipients: recipients(count), schedule: { sendAt } });
    await world.accept(...Array.from({ length: sends }, (_, index) => scheduled(index)));
    const later = sendAt + HOUR_MS;
    const claims = { channel: 'sms', now: sendAt, leaseUntil: sendAt + LEASE, abandoned: false, limit: 7 };
    const results = await atOnce<readonly Delivery[] | boolean>(2 * sends, (index) => {
      const store = hand(index >> 1).store(OutboxStore);
      return index % 2 === 0 ? store.claim(claims) : reschedule(store, index >> 1, count, later);
    });
    const claimed = new Set(
      results.flatMap((result) => (typeof result === 'boolean' ? [] : result.map(({ messageId }) => messageId))),
    );
    for (const [index, result] of results.entries()) {
      if (typeof result !== 'boolean') continue;
      const id = messageId(index >> 1);
      assert.equal(result && claimed.has(id), false, `${id} was moved and claimed`);
      const [before, page] = [result ? later : sendAt, await world.outbox.recipientPage(id, { limit: count })];
      const due = page.items.flatMap(({ status, dueAt }) => (status === 'queued' ? [dueAt] : []));
      assert.deepEqual(new Set(due), due.length === 0 ? new Set() : new Set([before]), id);
      assert.equal((await world.outbox.find(ACCOUNT, 'sms', id))?.schedule?.sendAt, before);
    }
    await world.sound();
  },

  'a large send rescheduled while it is claimed: all of it is moved, or nothing': async (world, hand) => {
    const count = RESCHEDULE_SLICE + 500;
    await world.fund(count);
    await world.accept(aSend(1, { recipients: recipients(count), schedule: { sendAt } }));
    const later = sendAt + HOUR_MS;
    const now = sendAt + SECOND_MS;
    const claims = { channel: 'sms', now, leaseUntil: now + LEASE, abandoned: false, limit: 400 };
    const results = await atOnce<readonly Delivery[] | boolean>(6, (index) => {
      const store = hand(index).store(OutboxStore);
      return index === 2 ? reschedule(store, 1, count, later) : store.claim(claims);
    });
    const isMoved = results.includes(true);
    const claimed = results.flatMap((result) => (typeof result === 'boolean' ? [] : result)).length;
    assert.equal(isMoved, claimed === 0);
    // A later search does not begin where those have stopped.
    const then = now + MINUTE_MS;
    let left = claimed;
    for (let more = 1; more > 0; left += more) more = (await world.claim({ now: then, limit: 1000 })).length;
    assert.equal(left, isMoved ? 0 : count);
    await world.sound();
  },

  'two changes of one send at once: both are in its schedule': async (world, hand) => {
    await world.fund(1);
    await world.accept(aSend(1, { schedule: { sendAt } }));
    const message = { id: messageId(1), accountId: ACCOUNT, channel: 'sms', recipients: 1, acceptedAt: START };
    const changes = [{ sendAt: sendAt + HOUR_MS }, { validFor: HOUR_MS }];
    await atOnce(2, (index) => {
      const change = changes[index] ?? {};
      return hand(index)
        .store(OutboxStore)
        .reschedule({ message, change, at: START + SECOND_MS });
    });
    assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.schedule, {
      sendAt: sendAt + HOUR_MS,
      validUntil: sendAt + 2 * HOUR_MS,
      window: undefined,
    });
  },
};
