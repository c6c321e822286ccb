import assert from 'node:assert/strict';
import { DAY_MS, SECOND_MS } from '../../../../../src/common/time.js';
import type { DeliveryUpdate } from '../../../../../src/outbox/delivery-state.js';
import { contentRemover } from '../../../../../src/outbox/retention/removed-payload.js';
import type { RetentionOrder } from '../../../../../src/outbox/retention/retention-records.js';
import { lacking, type PartRunner } from '../../../test-runner.js';
import { ACCOUNT, aReceipt, aSend, aTakenSms, messageId, phone, range, recipients, START } from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';
import type { StoragePart } from '../../storage-harness.js';

const KEY = Buffer.alloc(32, 7);

export function retentionTests({ test, testWith }: PartRunner<StoragePart>, world: StorageFixture): void {
  const remove = contentRemover(KEY);
  const order = (over: Partial<RetentionOrder> = {}): RetentionOrder => {
    return { before: START + 50, now: START + DAY_MS, limit: 100, ...over };
  };
  const texts = (over?: Partial<RetentionOrder>) => world.retention.purgeTexts(order(over), remove);
  const messages = (over?: Partial<RetentionOrder>) => world.retention.purgeMessages(order(over), remove);
  const found = (index: number) => world.outbox.find(ACCOUNT, 'sms', messageId(index));
  const payload = async (index: number) => (await found(index))?.payload;
  const numbers = async (index: number) => (await world.outbox.numbers([messageId(index)])).get(messageId(index));
  const byNumber = async (index: number) => {
    const query = { accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 10, number: phone(index) };
    return (await world.outbox.list(query)).items.map(({ id }) => id);
  };
  /** Runs a purge to its end. Returns how many calls did something. */
  const toEnd = async (limit: number, purge: (limit: number) => Promise<number>) => {
    for (let calls = 1; calls < 200; calls++) if ((await purge(limit)) < limit) return calls;
    throw new Error('The purge does not end.');
  };

  /** Sends, one after the other in time, each to this many numbers, all claimed and ended as `status`. */
  const ended = async (count: number, status: DeliveryUpdate['status'] = 'delivered', size = 1) => {
    await world.fund(count * size);
    const sends = range(count).map((index) =>
      aSend(index, {
        at: START + index,
        recipients: size === 1 ? [{ number: phone(index), units: 1 }] : recipients(size),
      }),
    );
    await world.accept(...sends);
    await end(status);
  };
  const end = async (status: DeliveryUpdate['status']) => {
    for (;;) {
      const claimed = await world.claim({ now: START + 10 * SECOND_MS, limit: 1000 });
      if (claimed.length === 0) return;
      const at = START + 11 * SECOND_MS;
      const trail = [{ at, outcome: 'sent' }];
      await world.outbox.settle(
        claimed.map(({ messageId, position, attempt }) => ({ messageId, position, attempt, status, at, trail })),
      );
    }
  };

  test('texts are removed by the age of their message, an HMAC stays, and nothing else changes', async () => {
    await ended(3);
    assert.equal(await texts({ before: START + 2 }), 2);
    const { removed = undefined, ...rest } = (await payload(0)) ?? { kind: 'none' };
    assert.deepEqual(rest, { kind: 'text' });
    assert.match(String(removed), /^[\w-]{43}$/);
    assert.equal((await payload(1))?.removed, removed, 'the same text has the same HMAC');
    assert.deepEqual(await payload(2), { kind: 'text', text: 'Bonjour' });
    assert.deepEqual(await numbers(0), [phone(0)]);
    assert.deepEqual(await byNumber(0), [messageId(0)]);
    assert.equal((await world.outbox.trail(messageId(0))).length, 1);
    await world.holds(0);
  });

  test('without a key a text leaves nothing, and a second purge finds nothing', async () => {
    await ended(1);
    await world.retention.purgeTexts(order(), contentRemover(undefined));
    assert.deepEqual(await payload(0), { kind: 'text', removed: true });
    assert.equal(await texts(), 0);
    assert.deepEqual(await payload(0), { kind: 'text', removed: true });
  });

  test('a text that may still be sent stays until then, and does not stop the purge of others', async () => {
    await world.fund(3);
    await world.accept(...range(3).map((index) => aSend(index, { at: START + index })));
    for (const index of [0, 2]) await world.settle(messageId(index), 'delivered');
    await texts();
    assert.equal((await payload(0))?.text, undefined);
    assert.equal((await payload(1))?.text, 'Bonjour');
    assert.equal((await payload(2))?.text, undefined);
    await world.settle(messageId(1), 'delivered');
    assert.equal(await texts({ now: START + DAY_MS + SECOND_MS }), 0, 'it is not looked for at once');
    assert.equal((await payload(1))?.text, 'Bonjour');
    await texts({ now: START + 3 * DAY_MS });
    await texts({ now: START + 3 * DAY_MS });
    assert.equal((await payload(1))?.text, undefined);
  });

  test('the age of a scheduled message counts from its send_at, and others are purged meanwhile', async () => {
    await world.fund(3);
    const sendAt = START + 180 * DAY_MS;
    await world.accept(
      ...range(3).map((index) => aSend(index, { at: START + index, ...(index === 1 && { schedule: { sendAt } }) })),
    );
    for (const index of [0, 2]) await world.settle(messageId(index), 'delivered');
    const purges = async (before: number, now: number) => {
      for (const purge of [texts, messages]) for (let call = 0; call < 3; call++) await purge({ before, now });
    };
    await purges(START + 30 * DAY_MS, START + 60 * DAY_MS);
    assert.deepEqual([await numbers(0), await numbers(1), await numbers(2)], [[], [phone(1)], []]);
    const [claimed] = await world.claim({ now: sendAt });
    assert.equal(claimed?.payload.text, 'Bonjour');
    await world.settle(messageId(1), 'delivered', { at: sendAt, attempt: 1 });
    // It was accepted before the limit, and its send_at is the limit: nothing that is as young as the limit is removed.
    await purges(sendAt, sendAt + 30 * DAY_MS);
    assert.equal((await payload(1))?.text, 'Bonjour');
    assert.deepEqual(await numbers(1), [phone(1)]);
    await purges(sendAt + 1, sendAt + 32 * DAY_MS);
    assert.equal((await payload(1))?.text, undefined);
    assert.deepEqual(await numbers(1), []);
    await world.sound();
  });

  test('if everything is under way, nothing is removed', async () => {
    await world.fund(1);
    await world.accept(aSend(0));
    for (const purge of [texts, messages]) assert.ok((await purge()) < 100);
    assert.deepEqual(await numbers(0), [phone(0)]);
    assert.equal((await payload(0))?.text, 'Bonjour');
  });

  test('a message that awaits a report has not ended, and one that is sent without a deadline has', async () => {
    await world.fund(2);
    await world.accept(...range(2).map((index) => aSend(index)));
    await world.claim();
    await world.settle(messageId(0), 'sent', { attempt: 1, dueAt: START + DAY_MS });
    await world.settle(messageId(1), 'sent', { attempt: 1, dueAt: null });
    await messages();
    assert.deepEqual(await numbers(0), [phone(0)]);
    assert.deepEqual(await numbers(1), []);
    await world.sound();
  });

  for (const status of ['delivered', 'failed', 'unknown'] as const) {
    test(`recipients that are ${status} are removed, their message stays with its units and masked numbers, and the ledger is correct`, async () => {
      await ended(3, status);
      const before = await found(0);
      await toEnd(2, (limit) => messages({ before: START + 2, limit }));
      const after = await found(0);
      assert.deepEqual(after?.payload.numbers, ['226******00']);
      assert.equal(after?.payload.text, undefined);
      assert.deepEqual({ ...after, payload: 0 }, { ...before, payload: 0 });
      for (const index of [0, 1]) {
        assert.deepEqual(await numbers(index), []);
        assert.deepEqual(await world.outbox.trail(messageId(index)), []);
        assert.deepEqual(await byNumber(index), []);
        const page = await world.outbox.recipientPage(messageId(index), { limit: 10 });
        assert.deepEqual([page.items, page.next], [[], undefined]);
      }
      assert.deepEqual(await numbers(2), [phone(2)]);
      await world.holds(status === 'failed' ? 3 : 0);
    });
  }

  test('a message to many is removed in pieces, and its ledger is correct after each', async () => {
    await ended(2, 'failed', 25);
    let calls = 0;
    const left = async () => (await numbers(0))?.length ?? 0;
    const lengths: number[] = [];
    while ((await messages({ before: START + 1, limit: 10 })) >= 10 && calls++ < 10) {
      lengths.push(await left());
      await world.holds(50);
    }
    assert.deepEqual(lengths, [15, 5]);
    assert.equal(await left(), 0);
    assert.equal((await numbers(1))?.length, 25);
    assert.equal(((await payload(0))?.numbers as readonly string[] | undefined)?.length, 25);
    await world.holds(50);
  });

  testWith('messageUnits', 'the refunds of a message without recipients are still checked', async () => {
    await ended(2, 'failed', 3);
    await messages({ before: START + 1 });
    await world.sound();
    const { tamper } = world.harness;
    if (!tamper?.messageUnits) throw lacking('messageUnits');
    await tamper.messageUnits(messageId(0), { refundedUnits: 2 });
    const found = await world.ledger.check();
    assert.equal(found.length, 1);
    assert.ok(found[0]?.includes(messageId(0)), found[0]);
  });

  test('late reports, receipts and results for a message without recipients change nothing', async () => {
    await ended(1, 'unknown');
    await world.parts.record([aTakenSms(0)], START);
    await messages();
    assert.deepEqual(await world.settle(messageId(0), 'failed'), []);
    const parking = { now: START + DAY_MS, until: START + 2 * DAY_MS, most: 10 };
    assert.deepEqual(await world.parts.receive([aReceipt('id-0')], parking), []);
    assert.deepEqual(await world.parts.record([aTakenSms(0)], START + DAY_MS), []);
    await world.holds(0);
  });

  test('the parts of a message are removed with its recipients', async () => {
    await ended(2);
    await world.parts.record([aTakenSms(0), aTakenSms(1)], START);
    await messages({ before: START + 1 });
    assert.deepEqual(await world.parts.parts(messageId(0)), []);
    assert.equal((await world.parts.parts(messageId(1))).length, 1);
  });

  test('histories are removed by age, oldest first, and attempts are still counted', async () => {
    await ended(3);
    const late = START + 2 * DAY_MS;
    await world.settle(messageId(2), 'read', { at: late, trail: [{ at: late, status: 'read' }] });
    assert.equal(await world.retention.purgeTrail(START + DAY_MS, 2), 2);
    assert.equal(await world.retention.purgeTrail(START + DAY_MS, 2), 1);
    assert.equal(await world.retention.purgeTrail(START + DAY_MS, 2), 0);
    assert.deepEqual(
      (await world.outbox.trail(messageId(2))).map(({ entry }) => entry.at),
      [late],
    );
    const { items } = await world.outbox.recipientPage(messageId(0), { limit: 1 });
    assert.deepEqual([items[0]?.attempts, items[0]?.attemptsCount], [[], 1]);
  });

  test('no call removes more than its limit, and a purge continues where another one has stopped', async () => {
    await ended(7);
    assert.equal(await toEnd(2, (limit) => texts({ limit })), 4);
    for (const index of range(7)) assert.equal((await payload(index))?.text, undefined, messageId(index));
    assert.ok((await toEnd(2, (limit) => messages({ limit }))) >= 4);
    for (const index of range(7)) assert.deepEqual(await numbers(index), []);
    await world.sound();
  });

  test('two processes may purge at the same time', async () => {
    await ended(20);
    await Promise.all(
      range(4).map((index) => toEnd(3, (limit) => (index % 2 === 0 ? texts({ limit }) : messages({ limit })))),
    );
    for (const index of range(20)) {
      assert.equal((await payload(index))?.text, undefined, messageId(index));
      assert.deepEqual(await numbers(index), []);
    }
    await world.holds(0);
  });
}
