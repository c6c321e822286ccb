import assert from 'node:assert/strict';
import { AuditLog } from '../../../../src/accounts/audit/audit.js';
import { HOUR_MS, SECOND_MS } from '../../../../src/common/time.js';
import { TOGETHER } from '../../../../src/outbox/accept/due-times.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import {
  RESCHEDULE_SLICE,
  type RescheduleOrder,
  type ScheduleChange,
} from '../../../../src/outbox/schedule/reschedule.js';
import { CANCEL_SLICE } from '../../../../src/outbox/settle/cancel.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import { places, type StorageFixture } from '../storage-fixture.js';

const WINDOW = { from: '08:00', to: '20:00', days: [1, 2, 3, 4, 5, 6, 7], zone: 'recipient' };

export function schedulingTests({ test }: TestRunner, world: StorageFixture): void {
  test('a scheduled send is claimed at its time, not a millisecond earlier, and knows its schedule', async () => {
    await world.fund(1);
    const schedule = { sendAt: START + HOUR_MS, validUntil: START + 2 * HOUR_MS, window: WINDOW };
    await world.accept(aSend(1, { schedule }));
    assert.deepEqual((await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.schedule, schedule);
    assert.equal(await world.outbox.nextDue('sms'), START + HOUR_MS);
    assert.deepEqual(await world.claim({ now: START + HOUR_MS - 1 }), []);
    const [delivery] = await world.claim({ now: START + HOUR_MS });
    assert.deepEqual(delivery?.schedule, schedule);
    assert.equal(delivery?.attempt, 1);
  });

  test('what waits for its time is listed by it, a page at a time, without what was canceled, is due or is plain', async () => {
    await world.fund(8);
    const at = (index: number, sendAt: number) => aSend(index, { schedule: { sendAt } });
    const later = START + 2 * HOUR_MS;
    await world.accept(at(1, later), at(2, START + HOUR_MS), aSend(3), at(4, later), at(5, later), at(6, START - 1));
    await world.outbox.settle([{ messageId: messageId(5), position: 0, status: 'canceled', at: START }]);
    const list = async (limit: number, after?: string, dueAfter = START) => {
      const query = { accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit, after, dueAfter };
      const { items, next } = await world.outbox.list(query);
      return { ids: items.map(({ id }) => id), next };
    };
    const [first, second, third] = [messageId(2), messageId(1), messageId(4)];
    assert.deepEqual(await list(2), { ids: [first, second], next: second });
    assert.deepEqual(await list(2, second), { ids: [third], next: undefined });
    assert.deepEqual(await list(9, undefined, START + HOUR_MS), { ids: [second, third], next: undefined });
    assert.deepEqual(await list(9, first, later - 1), { ids: [second, third], next: undefined });
    await assert.rejects(list(2, messageId(3)), /invalid_cursor/);
  });

  test('a plain send in the same batch stays plain', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { schedule: { sendAt: START + HOUR_MS } }), aSend(2));
    assert.deepEqual(places(await world.claim()), [`${messageId(2)}/0`]);
    const plain = await world.outbox.find(ACCOUNT, 'sms', messageId(2));
    assert.equal(plain && 'schedule' in plain, false);
  });

  test('no recipient of a large send is due before its time', async () => {
    await world.fund(3600);
    const sendAt = START + HOUR_MS;
    const refused = { number: phone(5000), units: 0, refused: 'opted_out' };
    await world.accept(
      aSend(1, { recipients: recipients(1200), schedule: { sendAt } }),
      aSend(2, { recipients: [...recipients(1200), refused], schedule: { sendAt } }),
      aSend(3, { recipients: recipients(1200), dueAt: sendAt }),
    );
    assert.deepEqual(await world.claim({ now: sendAt - 1, limit: 5000 }), []);
    assert.equal((await world.claim({ now: sendAt, limit: 5000 })).length, 1500);
    assert.equal((await world.claim({ now: sendAt + 2, limit: 5000 })).length, 2100);
  });

  test('recipients with times of their own are due at these, and at the end of the validity at the latest', async () => {
    await world.fund(300);
    const sendAt = START + HOUR_MS;
    for (const [index, count] of [3, 90].entries()) {
      const to = recipients(count).map((recipient, at) => ({ ...recipient, dueAt: sendAt + (at % 3) * HOUR_MS }));
      const schedule = { sendAt, validUntil: sendAt + HOUR_MS + SECOND_MS };
      await world.accept(aSend(index, { recipients: to, schedule }));
      const claimed = async (now: number) => (await world.claim({ now, limit: 500 })).length;
      assert.equal(await claimed(sendAt - 1), 0);
      assert.equal(await claimed(sendAt), count / 3);
      assert.equal(await claimed(sendAt + HOUR_MS), count / 3);
      assert.equal(await claimed(sendAt + HOUR_MS + SECOND_MS - 1), 0);
      assert.equal(await claimed(sendAt + HOUR_MS + SECOND_MS), count / 3);
    }
  });

  test('a waiting recipient is canceled and refunded, once', async () => {
    await world.fund(4);
    await world.accept(aSend(1, { recipients: recipients(2, 2) }));
    await world.claim({ limit: 1 });
    const cancel = range(2).map((position) => {
      return { messageId: messageId(1), position, status: 'canceled', at: START } as const;
    });
    const canceled = await world.outbox.settle(cancel);
    assert.deepEqual(
      canceled.map(({ position, status, refund }) => [position, status, refund]),
      [[1, 'canceled', 2]],
    );
    assert.deepEqual(await world.outbox.settle(cancel), []);
    await world.stand(messageId(1), ['sending', 'canceled']);
    assert.deepEqual(await world.claim({ now: START + HOUR_MS }), []);
    await world.holds(2);
  });

  test('a large message is canceled in slices, each of which refunds its own recipients', async () => {
    const count = CANCEL_SLICE + 3;
    await world.fund(2 * count);
    await world.accept(aSend(1, { recipients: recipients(count, 2) }));
    const [claimed] = await world.claim({ limit: 1 });
    const order = { accountId: ACCOUNT, messageId: messageId(1), at: START + SECOND_MS };
    const first = await world.outbox.cancel({ ...order, from: 0 });
    assert.equal(first.transitions.length, CANCEL_SLICE);
    await world.holds(2 * CANCEL_SLICE);
    // After a crash here, a repeat begins again and cancels the rest.
    const rest = await world.outbox.cancel({ ...order, from: 0 });
    assert.deepEqual([rest.transitions.length, rest.next], [2, undefined]);
    assert.deepEqual(await world.outbox.countCanceled(messageId(1), undefined, ACCOUNT), {
      recipients: count,
      canceled: count - 1,
    });
    await world.holds(2 * (count - 1));
    assert.equal(
      rest.transitions.some(({ completed }) => completed),
      false,
    );
    assert.equal(claimed?.messageId, messageId(1));
  });

  test('only recipients with the given numbers are canceled, and the last one completes the send', async () => {
    await world.fund(3);
    await world.accept(aSend(1, { recipients: recipients(1) }), aSend(2, { recipients: recipients(2) }));
    const order = { accountId: ACCOUNT, messageId: messageId(2), at: START, from: 0 };
    const one = await world.outbox.cancel({ ...order, numbers: [phone(1), phone(7)] });
    assert.deepEqual(places(one.transitions), [`${messageId(2)}/1`]);
    assert.deepEqual((await world.outbox.cancel({ ...order, numbers: [phone(7)] })).transitions, []);
    assert.deepEqual(await world.outbox.countCanceled(messageId(2), [phone(7)], ACCOUNT), {
      recipients: 0,
      canceled: 0,
    });
    const [alone] = (await world.outbox.cancel({ ...order, messageId: messageId(1) })).transitions;
    assert.deepEqual(alone?.completed, { recipients: 1, statuses: { canceled: 1 }, units: 1, refundedUnits: 1 });
    await world.stand(messageId(2), ['queued', 'canceled']);
    await world.holds(2);
  });

  test('a recipient that waits for another attempt is canceled, unless the carrier may have accepted one', async () => {
    await world.fund(2);
    await world.accept(aSend(1, { recipients: recipients(2) }));
    await world.claim();
    const dueAt = START + HOUR_MS;
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt, error: 'busy' });
    await world.settle(messageId(1), 'queued', { position: 1, attempt: 1, dueAt, error: 'no_answer', doubtful: true });
    const { transitions } = await world.outbox.cancel({
      accountId: ACCOUNT,
      messageId: messageId(1),
      at: START,
      from: 0,
    });
    assert.deepEqual(places(transitions), [`${messageId(1)}/0`]);
    await world.stand(messageId(1), ['canceled', 'queued']);
    await world.holds(1);
  });

  /** Changes the schedule of a send; returns whether something has changed. */
  const reschedule = (send: Send, change: ScheduleChange, over: Partial<RescheduleOrder> = {}) => {
    const { id, accountId, channel, recipients: to, at } = send;
    const message = { id, accountId, channel, recipients: to.length, acceptedAt: at };
    return world.outbox.reschedule({ message, change, at: START + SECOND_MS, ...over });
  };
  const scheduleOf = async () => (await world.outbox.find(ACCOUNT, 'sms', messageId(1)))?.schedule;
  const alreadySending = { code: 'error.already_sending' };

  test('a waiting send gets another time, and its validity keeps its length', async () => {
    await world.fund(1);
    const send = aSend(1, { schedule: { sendAt: START + HOUR_MS, validUntil: START + 2 * HOUR_MS } });
    await world.accept(send);
    const sendAt = START + 5 * HOUR_MS;
    assert.equal(await reschedule(send, { sendAt }), true);
    assert.deepEqual(await scheduleOf(), { sendAt, validUntil: sendAt + HOUR_MS, window: undefined });
    assert.deepEqual(await world.claim({ now: sendAt - 1 }), []);
    // Earlier again, with a shorter validity.
    assert.equal(await reschedule(send, { sendAt: START + 2 * HOUR_MS, validFor: SECOND_MS }), true);
    const [delivery] = await world.claim({ now: START + 2 * HOUR_MS });
    assert.equal(delivery?.schedule?.validUntil, START + 2 * HOUR_MS + SECOND_MS);
    await world.holds(0);
  });

  test('a window is given, kept and taken away, and each recipient is due in its country', async () => {
    await world.fund(4);
    const to = [phone(1), '33612345678'].map((number) => ({ number, units: 1 }));
    const send = aSend(1, { recipients: to, schedule: { sendAt: START + HOUR_MS } });
    await world.accept(send);
    // It is 10:00 in Burkina Faso, and 11:00 in France.
    const window = { ...WINDOW, from: '20:00', to: '21:00' };
    await reschedule(send, { window });
    assert.deepEqual(places(await world.claim({ now: START + 9 * HOUR_MS, limit: 1 })), [`${messageId(1)}/1`]);
    const abroad = [...to.slice(1), { number: '12125550123', units: 1 }];
    const another = aSend(2, { recipients: abroad, schedule: { sendAt: START + HOUR_MS, window } });
    await world.accept({ ...another, dueAt: START + 10 * HOUR_MS });
    await assert.rejects(reschedule(another, { window: { ...WINDOW, to: '09:00' } }), {
      code: 'error.window_empty',
      values: { country: 'US' },
    });
    assert.deepEqual(await world.claim({ now: START + HOUR_MS }), []);
    await reschedule(another, { window: null });
    assert.equal((await world.claim({ now: START + HOUR_MS })).length, 2);
  });

  test('nothing changes after one recipient was claimed, or if none waits', async () => {
    await world.fund(2);
    const schedule = { sendAt: START + HOUR_MS };
    const send = aSend(1, { recipients: recipients(2), schedule });
    await world.accept(send);
    await world.claim({ now: START + HOUR_MS, limit: 1 });
    await assert.rejects(reschedule(send, { sendAt: START + 2 * HOUR_MS }), alreadySending);
    // An attempt that has failed and waits for the next one was an attempt.
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START + 3 * HOUR_MS, error: 'busy' });
    await assert.rejects(reschedule(send, { sendAt: START + 2 * HOUR_MS }), alreadySending);
    assert.equal((await scheduleOf())?.sendAt, schedule.sendAt);
    assert.equal((await world.claim({ now: START + HOUR_MS })).length, 1);
    const canceled = aSend(2, { recipients: [], schedule });
    await assert.rejects(reschedule(canceled, { sendAt: START + 2 * HOUR_MS }), alreadySending);
  });

  test('a recipient that was refused or canceled does not stand in the way of the others', async () => {
    await world.fund(2);
    const to = [...recipients(2), { number: phone(9), units: 0, refused: 'opted_out' }];
    const send = aSend(1, { recipients: to, schedule: { sendAt: START + HOUR_MS } });
    await world.accept(send);
    await world.outbox.cancel({ accountId: ACCOUNT, messageId: messageId(1), numbers: [phone(0)], from: 0, at: START });
    assert.equal(await reschedule(send, { sendAt: START + 2 * HOUR_MS }), true);
    assert.deepEqual(places(await world.claim({ now: START + 2 * HOUR_MS })), [`${messageId(1)}/1`]);
    await world.stand(messageId(1), ['canceled', 'sending', 'failed']);
  });

  test('a change is in the audit log with the times before and after, and a repeat is not', async () => {
    await world.fund(1);
    const send = aSend(1, { schedule: { sendAt: START + HOUR_MS } });
    await world.accept(send);
    const by = { kind: 'key', id: 'k' } as const;
    for (const isChanged of [true, false]) {
      assert.equal(await reschedule(send, { sendAt: START + 2 * HOUR_MS }, { by }), isChanged);
    }
    const { items } = await world.storage.store(AuditLog).list({
      limit: 10,
      accountId: ACCOUNT,
      action: 'message.rescheduled',
    });
    const times = (at: number) => ({ send_at: new Date(at).toISOString(), valid_until: null, window: null });
    assert.deepEqual(
      items.map(({ action, target, before, after }) => ({ action, target, before, after })),
      [
        {
          action: 'message.rescheduled',
          target: messageId(1),
          before: times(START + HOUR_MS),
          after: times(START + 2 * HOUR_MS),
        },
      ],
    );
  });

  test('a large send is rescheduled as a whole, or not at all', async () => {
    const count = RESCHEDULE_SLICE + 3;
    await world.fund(2 * count);
    const sendAt = START + 2 * HOUR_MS;
    const send = aSend(1, { recipients: recipients(count), schedule: { sendAt: START + HOUR_MS } });
    await world.accept(send);
    await reschedule(send, { sendAt });
    assert.deepEqual(await world.claim({ now: sendAt - 1, limit: count }), []);
    assert.equal((await world.claim({ now: sendAt, limit: count })).length, TOGETHER);
    // The first recipient of the last slice is due first, so it is claimed first.
    const own = recipients(count).map((recipient, position) => {
      return { ...recipient, dueAt: position === RESCHEDULE_SLICE ? START : START + HOUR_MS };
    });
    const next = aSend(2, { recipients: own });
    await world.accept(next);
    const [claimed] = await world.claim({ now: START + SECOND_MS, limit: 1 });
    assert.equal(claimed?.position, RESCHEDULE_SLICE);
    await assert.rejects(reschedule(next, { sendAt }), alreadySending);
    assert.equal((await world.claim({ now: sendAt - 1, limit: count })).length, count - 1);
  });

  test('a message that waits outside its lane is canceled', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { channel: 'wa', lane: 'a', schedule: { sendAt: START + HOUR_MS } }));
    await world.outbox.cancel({ accountId: ACCOUNT, messageId: messageId(1), at: START, from: 0 });
    assert.equal(await world.outbox.enterLanes('wa', START + HOUR_MS), false);
    assert.equal(await world.outbox.nextDue('wa'), undefined);
    await world.holds(1);
  });
}
