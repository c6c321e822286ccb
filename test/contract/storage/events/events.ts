import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import { type AddedEvents, RESTORE_GAP } from '../../../../src/events/stored-event.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aReceipt, aSend, aTakenSms, messageId, phone, range, recipients, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';
import { EventsFixture } from './events-fixture.js';

const OPTED_OUT = { units: 0, refused: 'opted_out' };

export function eventTests({ test }: TestRunner, world: StorageFixture): void {
  const steps = new EventsFixture(world);

  test('before it is switched on, a log is empty and its account has no events', async () => {
    await world.fund(5);
    await world.accept(aSend(1));
    await world.claim();
    await steps.settle(1, 'delivered', 0);
    assert.deepEqual(await steps.state(), { last: 0, earliest: 1, recording: false });
    assert.deepEqual(await steps.events(), []);
    assert.deepEqual(await steps.state('nobody'), { last: 0, earliest: 1, recording: false });
  });

  test('from then on each change of a delivery is an event, with the next number', async () => {
    await steps.sending(aSend(1, { recipients: recipients(1, 2), metadata: { order: '4711' } }));
    await steps.settle(1, 'sent', 0);
    await steps.settle(1, 'failed', 0);
    const [sent, failed, send] = await steps.events();
    const data = {
      id: messageId(1),
      channel: 'sms',
      position: 0,
      number: phone(0),
      signature: 'INFOS',
      error: null,
      units: 2,
      accepted_at: new Date(START).toISOString(),
      metadata: { order: '4711' },
    };
    const of = { accountId: ACCOUNT, at: START + SECOND_MS };
    assert.deepEqual(sent, {
      ...of,
      sequence: 1,
      type: 'message.sent',
      data: { ...data, status: 'sent', refunded_units: 0 },
    });
    assert.deepEqual(failed, {
      ...of,
      sequence: 2,
      type: 'message.failed',
      data: { ...data, status: 'failed', refunded_units: 2 },
    });
    assert.equal(send?.type, 'send.completed');
    assert.deepEqual(await steps.state(), { last: 3, earliest: 1, recording: true });
  });

  test('an update that changes nothing, a claim and another attempt are not events', async () => {
    await steps.sending(aSend(1));
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START });
    await world.claim();
    await steps.settle(1, 'delivered', 0);
    await steps.settle(1, 'sent', 0);
    assert.deepEqual(await steps.published(), ['message.delivered 0', 'send.completed']);
  });

  test('an expiry and the report of a receipt are events too', async () => {
    await steps.sending(aSend(0), aSend(1));
    await world.settle(messageId(0), 'sent', { attempt: 1, dueAt: START + SECOND_MS });
    await world.settle(messageId(1), 'sent', { attempt: 1, dueAt: START + SECOND_MS });
    await world.parts.record([aTakenSms(0)], START);
    await world.parts.receive([aReceipt('id-0')], { now: START, until: START + DAY_MS, most: 10 });
    await world.outbox.expire({ channel: 'sms', limit: 5, now: START + 2 * SECOND_MS, statuses: ['sent'] });
    const [, , , , , expired] = await steps.events();
    assert.deepEqual(
      (await steps.events()).map(({ type }) => type),
      ['sent', 'sent', 'delivered']
        .map((each) => `message.${each}`)
        .concat('send.completed', 'message.unknown', 'send.completed'),
    );
    assert.deepEqual([expired?.type, expired?.data], ['send.completed', { ...expired?.data, id: messageId(1) }]);
  });

  test('accounts have logs of their own', async () => {
    await steps.sending(aSend(1));
    await world.fund(5, 'acc2');
    await world.accept(aSend(2, { accountId: 'acc2' }));
    await world.claim();
    await steps.settle(2, 'sent', 0);
    await steps.settle(1, 'sent', 0);
    assert.deepEqual(await steps.published(), ['message.sent 0']);
    assert.deepEqual(await steps.published('acc2'), []);
  });

  test('a send is completed once, with its last recipient; later events are about the recipient', async () => {
    await steps.sending(aSend(1, { recipients: recipients(4) }));
    await steps.settle(1, 'delivered', 0, 1);
    await steps.settle(1, 'unknown', 2);
    await steps.settle(1, 'failed', 3);
    await steps.settle(1, 'delivered', 2);
    const published = ['delivered 0', 'delivered 1', 'unknown 2', 'failed 3'].map((each) => `message.${each}`);
    assert.deepEqual(await steps.published(), [...published, 'send.completed', 'message.delivered 2']);
    const { data } = (await steps.events())[4] ?? {};
    const sums = {
      recipients_count: 4,
      statuses: { delivered: 2, failed: 1, unknown: 1 },
      units: 4,
      refunded_units: 1,
    };
    assert.deepEqual(data, { ...data, ...sums, id: messageId(1), signature: 'INFOS' });
  });

  test('a send is completed within one batch, and also if its first recipients ended while nothing was recorded', async () => {
    await world.fund(10);
    await world.accept(aSend(1, { recipients: recipients(2) }), aSend(2, { recipients: recipients(3) }));
    await world.claim();
    await steps.settle(2, 'delivered', 0);
    await steps.log.switchOn(ACCOUNT, START);
    await steps.settle(1, 'delivered', 0, 1);
    await steps.settle(2, 'delivered', 1);
    await steps.settle(2, 'delivered', 2);
    const published = await steps.published();
    assert.equal(published.filter((type) => type === 'send.completed').length, 2);
    assert.equal(published.at(-1), 'send.completed');
  });

  test('refused recipients have events after the accept, and count', async () => {
    const one = { number: phone(0), units: 1 };
    const out = { ...OPTED_OUT, number: phone(1) };
    await steps.sending(aSend(1, { recipients: [one, out] }), aSend(2, { recipients: [out] }));
    assert.deepEqual(await steps.events(), []);
    assert.equal(await steps.log.numberMarks(100), 3);
    assert.equal(await steps.log.numberMarks(100), 0);
    assert.deepEqual(await steps.published(), ['message.failed 1', 'message.failed 0', 'send.completed']);
    await steps.settle(1, 'delivered', 0);
    assert.deepEqual((await steps.published()).slice(3), ['message.delivered 0', 'send.completed']);
  });

  test('a refused send leaves no mark, and marks of an account that does not record are dropped', async () => {
    const expensive = [...recipients(1, 2000), { ...OPTED_OUT, number: phone(1) }];
    await steps.sending();
    assert.deepEqual(kinds(await world.commit(aSend(1, { recipients: expensive }))), ['insufficient_balance']);
    assert.equal(await steps.log.numberMarks(100), 0);
    await world.fund(5, 'acc2');
    await world.accept(aSend(2, { accountId: 'acc2', recipients: [{ ...OPTED_OUT, number: phone(1) }] }));
    assert.equal(await steps.log.numberMarks(100), 2);
    assert.deepEqual(await steps.events('acc2'), []);
  });

  test('a log that was switched off for a time skips one number and continues after it', async () => {
    await steps.sending(aSend(1, { recipients: recipients(3) }));
    await steps.settle(1, 'delivered', 0);
    assert.equal(await steps.log.switchOffUnused(START, 10), 0);
    assert.equal(await steps.log.switchOffUnused(START + 1, 10), 1);
    await steps.settle(1, 'delivered', 1);
    assert.deepEqual(await steps.state(), { last: 1, earliest: 1, recording: false });
    const again = await steps.log.switchOn(ACCOUNT, START + DAY_MS);
    assert.deepEqual(await steps.state(), { last: 2, earliest: 3, recording: true });
    assert.deepEqual(await steps.log.switchOn(ACCOUNT, START + 2 * DAY_MS), again);
    await steps.settle(1, 'delivered', 2);
    assert.deepEqual(await steps.numbers(undefined, 2), [3, 4]);
    // Nobody counted its second recipient.
    assert.deepEqual(
      (await steps.log.read({ accountId: ACCOUNT, after: 3, limit: 9 })).events[0]?.type,
      'send.completed',
    );
  });

  test('a log without events has missed something too when it is switched on again', async () => {
    await steps.sending();
    await steps.log.switchOffUnused(START + DAY_MS, 10);
    await steps.log.switchOn(ACCOUNT, START + DAY_MS);
    assert.deepEqual(await steps.state(), { last: 1, earliest: 2, recording: true });
  });

  test('each time it is switched on, a log gets another random mark for the ids of its events', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    assert.deepEqual((await steps.log.state(ACCOUNT)).epochs, []);
    const { epochs: first } = await steps.log.switchOn(ACCOUNT, START);
    assert.deepEqual(
      first.map(({ from }) => from),
      [1],
    );
    assert.deepEqual((await steps.log.switchOn(ACCOUNT, START + DAY_MS)).epochs, first);
    assert.deepEqual((await steps.log.state(ACCOUNT)).epochs, first);
    const { epochs: other } = await steps.log.switchOn('acc2', START);
    await steps.log.switchOffUnused(START + 2 * DAY_MS, 10);
    const { epochs: again } = await steps.log.switchOn(ACCOUNT, START + 3 * DAY_MS);
    assert.deepEqual(
      again.map(({ from }) => from),
      [2],
    );
    const marks = [...first, ...other, ...again].map(({ mark }) => mark);
    assert.equal(new Set(marks).size, 3);
    assert.ok(marks.every((mark) => /^[\w-]{16}$/.test(mark)));
  });

  test('after a restore every log continues far ahead, with another mark, and keeps its events', async () => {
    await steps.sending(aSend(1, { recipients: recipients(3) }));
    await world.fund(0, 'acc2');
    await steps.log.switchOn('acc2', START);
    await steps.settle(1, 'delivered', 0);
    const before = await steps.log.state(ACCOUNT);
    assert.deepEqual(await steps.log.moveOn('', 1), [ACCOUNT]);
    assert.deepEqual(await steps.log.moveOn(ACCOUNT, 10), ['acc2']);
    assert.deepEqual(await steps.log.moveOn('acc2', 10), []);
    const after = await steps.log.state(ACCOUNT);
    const next = before.last + RESTORE_GAP + 1;
    assert.deepEqual([after.last, after.earliest, after.recording], [next - 1, 1, true]);
    assert.deepEqual(
      after.epochs.map(({ from }) => from),
      [1, next],
    );
    assert.equal(after.epochs[0]?.mark, before.epochs[0]?.mark);
    assert.notEqual(after.epochs[1]?.mark, before.epochs[0]?.mark);
    await steps.settle(1, 'delivered', 1);
    assert.deepEqual(await steps.numbers(undefined, 0), [1, next]);
    assert.equal(await steps.log.previous(ACCOUNT, next, undefined), 1);
    assert.equal((await steps.log.state('acc2')).last, RESTORE_GAP);
  });

  test('the log of an unknown account cannot be switched on', async () => {
    const refused = (error: { code?: unknown }) => error.code === 'error.account_not_found';
    await assert.rejects(steps.log.switchOn('none', START), refused);
    assert.equal((await steps.log.state('none')).recording, false);
  });

  test('a log in use stays on', async () => {
    await steps.sending();
    await steps.log.switchOn(ACCOUNT, START + DAY_MS);
    assert.equal(await steps.log.switchOffUnused(START + DAY_MS, 10), 0);
  });

  test('pages of some types continue where the last one ended, past the events that are left out', async () => {
    await steps.sending(aSend(1, { recipients: recipients(6) }));
    for (const position of range(6)) await steps.settle(1, position % 2 === 0 ? 'sent' : 'delivered', position);
    assert.deepEqual(await steps.numbers(undefined, 0, 4), [1, 2, 3, 4]);
    assert.deepEqual(await steps.numbers(undefined, 4, 4), [5, 6]);
    assert.deepEqual(await steps.numbers(['message.delivered'], 0), [2, 4, 6]);
    assert.deepEqual(await steps.numbers(['message.delivered', 'message.sent'], 1, 2), [2, 3]);
    const page = { accountId: ACCOUNT, types: ['message.delivered'], limit: 2 } as const;
    assert.equal((await steps.log.read({ ...page, after: 0 })).nextAfter, 4);
    assert.equal((await steps.log.read({ ...page, after: 6 })).nextAfter, 6);
    assert.equal((await steps.log.read({ ...page, types: ['key.created'], after: 0 })).nextAfter, 6);
    const bounded = await steps.log.read({ ...page, after: 0, upTo: 3 });
    assert.deepEqual([bounded.events.length, bounded.nextAfter, bounded.last], [1, 3, 6]);
  });

  test('the previous event of some types is found', async () => {
    await steps.sending(aSend(1, { recipients: recipients(4) }));
    for (const position of range(4)) await steps.settle(1, position % 2 === 0 ? 'sent' : 'delivered', position);
    const previous = (sequence: number, ...types: readonly ('message.sent' | 'message.delivered' | 'key.created')[]) =>
      steps.log.previous(ACCOUNT, sequence, types.length > 0 ? types : undefined);
    assert.deepEqual([await previous(1), await previous(4)], [undefined, 3]);
    assert.deepEqual([await previous(4, 'message.delivered'), await previous(2, 'message.delivered')], [2, undefined]);
    assert.equal(await previous(4, 'message.sent', 'message.delivered'), 3);
    assert.equal(await previous(4, 'key.created'), undefined);
  });

  test('a purge removes the oldest events, and reports where the log now begins', async () => {
    await steps.sending(aSend(1, { recipients: recipients(5) }));
    for (const position of range(5)) await world.settle(messageId(1), 'sent', { position, at: START + position });
    assert.equal(await steps.log.purge(START, 100), 0);
    assert.equal(await steps.log.purge(START + 3, 2), 2);
    assert.deepEqual(await steps.state(), { last: 5, earliest: 3, recording: true });
    await steps.log.purge(START + 3, 100);
    assert.deepEqual(await steps.numbers(undefined, 0), [4, 5]);
    assert.equal(await steps.log.previous(ACCOUNT, 4, undefined), undefined);
    await steps.log.purge(START + DAY_MS, 100);
    assert.deepEqual(await steps.state(), { last: 5, earliest: 6, recording: true });
  });

  test('events from before a log was switched on again are removed, however young they are', async () => {
    await steps.sending(aSend(1, { recipients: recipients(2) }));
    await steps.settle(1, 'sent', 0);
    await steps.log.switchOffUnused(START + 1, 10);
    await steps.log.switchOn(ACCOUNT, START + 1);
    await steps.settle(1, 'sent', 1);
    await steps.log.purge(START, 100);
    assert.deepEqual(await steps.numbers(undefined, 0), [3]);
  });

  test('an erased number leaves the log together with its texts; the sequence numbers and types of its events stay', async () => {
    const two = { recipients: recipients(2), metadata: { name: 'Awa' } };
    await steps.sending(aSend(1, two), aSend(2, { ...two, recipients: [{ number: phone(1), units: 1 }] }));
    await steps.settle(1, 'sent', 0, 1);
    await steps.settle(2, 'sent', 0);
    const published = await steps.published();
    assert.equal(await steps.log.erase(phone(0), [ACCOUNT, 'nobody']), 1);
    assert.equal(await steps.log.erase(phone(0), [ACCOUNT]), 0);
    assert.deepEqual(await steps.published(), published);
    const [erased, ...others] = (await steps.events()).map(({ data }) => data);
    assert.deepEqual(erased, { ...erased, number: '*'.repeat(phone(0).length), metadata: null, status: 'sent' });
    for (const other of others) assert.deepEqual(other, { ...other, number: phone(1), metadata: { name: 'Awa' } });
  });

  test('in events of a certain age, phone numbers are masked', async () => {
    await steps.sending(aSend(1, { recipients: recipients(3) }));
    for (const position of range(3)) await world.settle(messageId(1), 'sent', { position, at: START + position });
    const numbers = async () => (await steps.events()).map(({ data }) => 'number' in data && data.number);
    await steps.log.redact('numbers', START + 2, 1);
    const masked = '226******00';
    assert.deepEqual((await numbers())[0], masked);
    for (let read = 100; read >= 100; ) read = await steps.log.redact('numbers', START + 2, 100);
    assert.deepEqual(await numbers(), [masked, '226******01', phone(2)]);
  });

  test('listeners are notified of accounts with new events, and of marks, after the commit', async () => {
    const heard: AddedEvents[] = [];
    const off = steps.log.listen((added) => heard.push(added));
    await steps.sending(aSend(1));
    await world.fund(5, 'acc2');
    await world.accept(aSend(2, { accountId: 'acc2' }));
    await world.claim();
    await steps.settle(2, 'sent', 0);
    assert.deepEqual(heard, []);
    await steps.settle(1, 'sent', 0);
    assert.deepEqual(heard.splice(0), [{ accounts: [ACCOUNT], marks: false }]);
    await world.accept(aSend(3, { recipients: [{ ...OPTED_OUT, number: phone(1) }] }));
    assert.deepEqual(heard.splice(0), [{ accounts: [], marks: true }]);
    await steps.log.numberMarks(10);
    assert.deepEqual(heard.splice(0), [{ accounts: [ACCOUNT], marks: false }]);
    off();
    await steps.settle(1, 'delivered', 0);
    assert.deepEqual(heard, []);
  });
}
