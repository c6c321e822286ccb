import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../../src/common/time.js';
import { contentRemover } from '../../../../../src/outbox/retention/removed-payload.js';
import type { ErasableDelivery } from '../../../../../src/outbox/retention/retention-records.js';
import type { TestRunner } from '../../../test-runner.js';
import {
  ACCOUNT,
  aPhoneMessage,
  aReceipt,
  aSend,
  aTakenSms,
  messageId,
  onceKey,
  phone,
  range,
  recipients,
  START,
} from '../../fixtures.js';
import type { StorageFixture } from '../../storage-fixture.js';

const NUMBER = phone(1);
const STARS = '*'.repeat(NUMBER.length);

export function erasureTests({ test }: TestRunner, world: StorageFixture): void {
  const remove = contentRemover(undefined);
  const walk = async (limit: number) => {
    const all: ErasableDelivery[] = [];
    let after: string | undefined = '';
    for (let steps = 0; after !== undefined; steps++) {
      assert.ok(steps < 50, 'the walk ends');
      const { found, next }: Awaited<ReturnType<typeof world.retention.deliveriesTo>> =
        await world.retention.deliveriesTo(NUMBER, after, limit);
      all.push(...found);
      after = next;
    }
    return all;
  };
  const erase = async (records: readonly string[] = []) => {
    const closed = (await walk(100)).filter(({ open }) => !open);
    return world.retention.eraseDeliveries(NUMBER, closed, records, remove);
  };
  const numbers = async (index: number) =>
    (await world.outbox.recipients(messageId(index))).map(({ number }) => number);
  const payload = async (index: number) => (await world.outbox.find(ACCOUNT, 'sms', messageId(index)))?.payload;

  for (const limit of [1, 2, 3, 100]) {
    test(`deliveries to a number are found ${limit} recipients at a time, in one and in many messages`, async () => {
      await world.fund(20);
      await world.accept(
        aSend(0),
        aSend(1),
        aSend(2, { recipients: recipients(4) }),
        aSend(3, { recipients: recipients(1) }),
      );
      await world.settle(messageId(1), 'failed');
      assert.deepEqual(
        (await walk(limit)).map(({ messageId, position, open, recipients }) => [messageId, position, open, recipients]),
        [
          [messageId(1), 0, false, 1],
          [messageId(2), 1, true, 4],
        ],
      );
    });
  }

  test('a delivery loses its number, error, history, parts and place in searches; its state and units stay', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    await world.parts.record([aTakenSms(1)], START);
    const trail = [{ at: START, outcome: 'refused', error: `bad ${NUMBER}` }];
    await world.settle(messageId(1), 'failed', { attempt: 1, error: `bad ${NUMBER}`, trail, reference: NUMBER });
    assert.equal(await erase(), 1);
    const page = await world.outbox.recipientPage(messageId(1), { limit: 5 });
    const [recipient] = page.items;
    assert.deepEqual(
      [recipient?.number, recipient?.status, recipient?.error, recipient?.refundedUnits, recipient?.attemptsCount],
      [STARS, 'failed', undefined, 1, 0],
    );
    assert.deepEqual(await world.outbox.trail(messageId(1)), []);
    assert.deepEqual(await world.parts.parts(messageId(1)), []);
    assert.deepEqual(await world.outbox.byReference('sms', [NUMBER]), []);
    const query = { accountId: ACCOUNT, channel: 'sms', kinds: ['text'], limit: 9, number: NUMBER };
    assert.deepEqual((await world.outbox.list(query)).items, []);
    assert.deepEqual(await payload(1), { kind: 'text', removed: true });
    await world.holds(1);
  });

  test('a message to many numbers loses only the erased one, and its text with the last one', async () => {
    await world.fund(2);
    const two = [phone(1), phone(2)].map((number) => ({ number, units: 1 }));
    await world.accept(aSend(0, { recipients: two }));
    for (const position of [0, 1]) await world.settle(messageId(0), 'failed', { position });
    assert.equal(await erase(), 0);
    assert.deepEqual(await numbers(0), [STARS, phone(2)]);
    assert.equal((await payload(0))?.text, 'Bonjour');
    const { found } = await world.retention.deliveriesTo(phone(2), '', 10);
    assert.equal(await world.retention.eraseDeliveries(phone(2), found, [], remove), 1);
    assert.deepEqual(await numbers(0), [STARS, STARS]);
    assert.equal((await payload(0))?.text, undefined);
    await world.holds(2);
  });

  test('a delivery that is under way stays whatever is asked, and is removed once it has ended', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    const found = await walk(10);
    assert.equal(await world.retention.eraseDeliveries(NUMBER, found, [], remove), 0);
    assert.deepEqual(await numbers(1), [NUMBER]);
    const [delivery] = await world.claim();
    assert.deepEqual([delivery?.number, delivery?.payload.text], [NUMBER, 'Bonjour']);
    await world.settle(messageId(1), 'sent', { attempt: 1, dueAt: START + DAY_MS });
    assert.equal(await erase(), 0);
    await world.settle(messageId(1), 'delivered');
    assert.equal(await erase(), 1);
    assert.equal(await erase(), 0, 'a second time there is nothing');
    assert.deepEqual(await walk(10), []);
  });

  test('a late report on an erased delivery is accepted, and refunds once', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'unknown', { attempt: 1 });
    await erase();
    await world.settle(messageId(1), 'failed');
    await world.settle(messageId(1), 'failed');
    await world.stand(messageId(1), ['failed']);
    await world.holds(1);
  });

  test('records of policies are removed with a delivery, and others stay', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.settle(messageId(1), 'failed');
    const record = { state: {}, messages: [], expiresAt: START + DAY_MS };
    const changes = new Map(['a', 'b', 'c'].map((key) => [key, record]));
    await world.policies.change(['a', 'b', 'c'], () => ({ result: undefined, changes }));
    await erase(['a', 'unknown']);
    assert.equal(await world.retention.eraseRecords(['c', 'unknown']), 1);
    const seen = await world.policies.change(['a', 'b', 'c'], (each) => ({
      result: [...each.keys()],
      changes: new Map(),
    }));
    assert.deepEqual(seen, ['b']);
  });

  test('replies lose only the number, and their keys still work', async () => {
    await world.fund(9);
    const reply = (index: number, ...to: readonly string[]) =>
      aSend(index, { once: onceKey({ key: `k${index}` }), reply: { number: to, other: `${NUMBER}0` } });
    await world.accept(reply(1, NUMBER, phone(2)), reply(2, phone(2)), reply(3, NUMBER));
    const found: string[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const page: Awaited<ReturnType<typeof world.retention.eraseReplies>> = await world.retention.eraseReplies(
        NUMBER,
        after,
        1,
      );
      found.push(...page.found);
      after = page.next;
    }
    assert.deepEqual(found, ['k1', 'k3']);
    const replies = await Promise.all(
      range(3).map((index) => world.outbox.replay(onceKey({ key: `k${index + 1}` }), START)),
    );
    assert.deepEqual(
      replies.map((each) => each?.reply),
      [
        { number: [STARS, phone(2)], other: `${NUMBER}0` },
        { number: [phone(2)], other: `${NUMBER}0` },
        { number: [STARS], other: `${NUMBER}0` },
      ],
    );
    const [again] = await world.commit(reply(1, NUMBER, phone(2)));
    assert.equal(again?.kind, 'replayed');
  });

  test('parked receipts of the number are removed, and others stay', async () => {
    const parking = { now: START, until: START + DAY_MS, most: 100 };
    const receipts = [aReceipt('a', { number: NUMBER }), aReceipt('b', { number: phone(2) }), aReceipt('c')];
    await world.parts.receive(receipts, parking);
    const erased: string[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const page: Awaited<ReturnType<typeof world.parts.eraseParked>> = await world.parts.eraseParked(NUMBER, after, 1);
      erased.push(...page.found);
      after = page.next;
    }
    assert.equal(erased.length, 1);
    assert.deepEqual(await world.parts.purge(START + 2 * DAY_MS, 10), { parts: 0, receipts: 2 });
  });

  test('opt-outs are found over all accounts, and get another number if their lists may have it', async () => {
    const entry = (index: number, accountId: string, number: string) => {
      return { id: `o${index}`, accountId, signature: 'INFOS', number, source: 'phone' as const, at: START + index };
    };
    const entries = [
      entry(1, 'acc1', NUMBER),
      entry(2, 'acc2', NUMBER),
      entry(3, 'acc2', phone(2)),
      entry(4, '*', 'hash'),
    ];
    await world.optOuts.add([...entries, entry(5, '*', NUMBER)]);
    const found: string[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const page: Awaited<ReturnType<typeof world.optOuts.entriesOf>> = await world.optOuts.entriesOf(NUMBER, after, 1);
      found.push(...page.found.map(({ id }) => id));
      after = page.next;
    }
    assert.deepEqual(found.sort(), ['o1', 'o2', 'o5']);
    assert.deepEqual(await world.optOuts.hashedSignatures('acc1'), []);
    assert.equal(await world.optOuts.allowHashes([entry(1, 'acc1', NUMBER)], START), START);
    assert.equal(await world.optOuts.allowHashes([entry(1, 'acc1', ''), entry(2, 'acc2', '')], START + 5), START + 5);
    assert.equal(await world.optOuts.allowHashes([entry(1, 'acc1', '')], START + 9), START);
    assert.deepEqual(await world.optOuts.hashedSignatures('acc1'), ['INFOS']);
    assert.deepEqual(await world.optOuts.hashedSignatures('*'), []);
    await world.optOuts.renumber([entry(1, 'acc1', NUMBER), entry(5, '*', NUMBER)], 'hash');
    const ids = async (accountId: string) =>
      (await world.optOuts.list({ accountId, limit: 9 })).items.map(({ id, number }) => [id, number]);
    assert.deepEqual(await ids('acc1'), [['o1', 'hash']]);
    assert.deepEqual(await ids('*'), [['o4', 'hash']]);
    assert.equal((await ids('acc2')).length, 2);
  });

  test('a sandbox phone’s messages are removed by number or by age, in limited batches', async () => {
    const files = [aPhoneMessage(1, {}), aPhoneMessage(2), aPhoneMessage(3, { to: phone(2) })].map(
      (message, index) => ({
        ...message,
        fileId: `file-${index}`,
      }),
    );
    await world.phones.receive(files);
    await world.phones.lose([aPhoneMessage(4)]);
    assert.deepEqual(await world.phones.remove({ number: NUMBER }, 2), { removed: 2, files: ['file-0', 'file-1'] });
    assert.deepEqual(await world.phones.remove({ number: NUMBER }, 2), { removed: 1, files: [] });
    assert.deepEqual(await world.phones.remove({ before: START + 3 }, 9), { removed: 0, files: [] });
    assert.deepEqual(await world.phones.remove({ before: START + 4 }, 9), { removed: 1, files: ['file-2'] });
    assert.deepEqual(await world.phones.latest(9), []);
  });
}
