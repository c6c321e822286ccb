import assert from 'node:assert/strict';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, range, recipients, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

export function commitTests({ test }: TestRunner, world: StorageFixture): void {
  const find = (index: number, accountId = ACCOUNT) => world.outbox.find(accountId, 'sms', messageId(index));

  test('an accepted send is charged and stored with its recipients', async () => {
    await world.fund(10);
    const send = aSend(1, { recipients: recipients(2, 3), at: START + 5, sender: 'ALERTE' });
    assert.deepEqual(await world.commit(send), [{ kind: 'accepted', reply: send.reply }]);
    assert.deepEqual(await find(1), {
      id: send.id,
      accountId: ACCOUNT,
      channel: 'sms',
      lane: undefined,
      sender: 'ALERTE',
      payload: send.payload,
      units: 6,
      refundedUnits: 0,
      recipients: 2,
      acceptedAt: START + 5,
      metadata: undefined,
    });
    const open = { status: 'queued', units: 3, refundedUnits: 0, error: undefined, updatedAt: START + 5 };
    assert.deepEqual(await world.outbox.recipients(send.id), [
      { number: phone(0), ...open },
      { number: phone(1), ...open },
    ]);
    await world.holds(4);
  });

  test('a send to many numbers is accepted without a wait for locks, and found by each number', async () => {
    await world.fund(60);
    const to = recipients(60).toReversed();
    const sends = [aSend(1, { recipients: to, at: START + 5 })];
    const [outcome] = await world.outbox.commit(sends, decide, undefined, 'none');
    assert.equal(outcome?.kind, 'accepted');
    assert.deepEqual(
      (await world.outbox.recipients(messageId(1))).map(({ number }) => number),
      to.map(({ number }) => number),
    );
    for (const { number } of to) {
      const { items } = await world.outbox.list({
        accountId: ACCOUNT,
        channel: 'sms',
        kinds: ['text'],
        number,
        limit: 10,
      });
      assert.deepEqual(
        items.map(({ id }) => id),
        [messageId(1)],
      );
    }
    await world.holds(0);
  });

  test('the last unit can be spent, and no further one', async () => {
    await world.fund(6);
    const short = aSend(1, { recipients: recipients(7) });
    assert.deepEqual(await world.commit(short), [{ kind: 'refused', why: 'insufficient_balance' }]);
    assert.equal(await find(1), undefined);
    assert.deepEqual(await world.claim(), []);
    await world.holds(6);
    await world.accept(aSend(2, { recipients: recipients(6) }));
    await world.holds(0);
  });

  for (const count of [3, 120]) {
    test(`refused recipients are stored as failed, not charged and never handed over, among ${count}`, async () => {
      await world.fund(count);
      const all = recipients(count).map((recipient, position) =>
        position % 3 === 1 ? { ...recipient, units: 0, refused: 'opted_out' } : recipient,
      );
      await world.accept(aSend(1, { recipients: all, at: START + 5 }), aSend(2));
      assert.deepEqual(
        (await world.outbox.recipients(messageId(1))).slice(0, 3),
        [0, 1, 2].map((position) => ({
          number: phone(position),
          refundedUnits: 0,
          updatedAt: START + 5,
          ...(position === 1
            ? { status: 'failed', units: 0, error: 'opted_out' }
            : { status: 'queued', units: 1, error: undefined }),
        })),
      );
      const claimed = (await world.claim({ now: START + 10, limit: 1000 })).filter((d) => d.messageId === messageId(1));
      assert.deepEqual(
        claimed.map(({ position }) => position).sort((a, b) => a - b),
        range(count).filter((position) => position % 3 !== 1),
      );
      await world.holds(Math.floor((count + 1) / 3) - 1);
    });
  }

  test('a send whose recipients are all refused is accepted without charge and notifies nobody', async () => {
    await world.fund(0);
    const refused = { units: 0, refused: 'opted_out' };
    const send = aSend(1, { recipients: [1, 2].map((index) => ({ number: phone(index), ...refused })) });
    assert.deepEqual(await world.commit(send), [{ kind: 'accepted', reply: send.reply }]);
    assert.deepEqual([await world.claim(), await world.outbox.nextDue('sms')], [[], undefined]);
    assert.equal((await find(1))?.units, 0);
    await world.stand(messageId(1), ['failed', 'failed']);
    await world.holds(0);
  });

  test('an unknown account is refused', async () => {
    assert.deepEqual(await world.commit(aSend(1)), [{ kind: 'refused', why: 'account_not_found' }]);
    assert.equal(await find(1), undefined);
    await world.sound();
  });

  test('a batch is decided in its order, each send separately', async () => {
    await world.fund(5);
    await world.fund(1, 'acc2');
    const outcomes = await world.commit(
      aSend(1, { recipients: recipients(3), once: onceKey() }),
      aSend(2, { recipients: recipients(3) }),
      aSend(3, { accountId: 'nobody' }),
      aSend(4, { once: onceKey() }),
      aSend(5, { once: onceKey({ fingerprint: 'f2' }) }),
      aSend(6, { accountId: 'acc2' }),
      aSend(7, { recipients: recipients(2) }),
      aSend(8),
    );
    assert.deepEqual(kinds(outcomes), [
      'accepted',
      'insufficient_balance',
      'account_not_found',
      'replayed',
      'idempotency_mismatch',
      'accepted',
      'accepted',
      'insufficient_balance',
    ]);
    for (const index of [2, 3, 4, 5, 8]) assert.equal(await find(index), undefined);
    for (const index of [1, 7]) assert.equal((await find(index))?.id, messageId(index));
    assert.equal((await find(6, 'acc2'))?.units, 1);
    await world.holds(0);
    await world.holds(0, 'acc2');
  });

  test('recipients that cost nothing are accepted on an empty balance', async () => {
    await world.fund(0);
    await world.accept(aSend(1, { recipients: recipients(2, 0) }));
    assert.equal((await world.claim()).length, 2);
    await world.holds(0);
  });

  test('the decision of `decide` is final: a send that it refuses is not written', async () => {
    await world.fund(5);
    const refusal = { kind: 'refused', why: 'insufficient_balance' } as const;
    const nothing = { accepted: [], spent: new Map(), records: new Map(), keySpending: new Map() };
    const refuseAll = () => ({ decisions: [refusal], ...nothing });
    assert.deepEqual(await world.outbox.commit([aSend(1)], refuseAll), [refusal]);
    assert.equal(await find(1), undefined);
    await world.holds(5);
  });

  test('if `decide` throws, nothing is written and nothing stays locked', async () => {
    await world.fund(5);
    const fault = new Error('decide failed');
    const failing = () => {
      throw fault;
    };
    await assert.rejects(() => world.outbox.commit([aSend(1)], failing));
    assert.equal(await find(1), undefined);
    await world.accept(aSend(1));
    await world.holds(4);
  });

  test('an id is stored once: a repeat fails its whole batch, and is not charged again', async () => {
    await world.fund(10);
    await world.accept(aSend(1));
    await assert.rejects(() => world.commit(aSend(2), aSend(1, { once: onceKey() })));
    assert.equal(await find(2), undefined);
    assert.equal(await world.outbox.replay(onceKey(), START), undefined);
    await world.holds(9);
  });

  test('a hundred sends to three recipients each fit into one batch', async () => {
    await world.fund(299);
    const outcomes = await world.commit(...range(100).map((index) => aSend(index, { recipients: recipients(3) })));
    assert.equal(outcomes.filter(({ kind }) => kind === 'accepted').length, 99);
    assert.equal(outcomes.at(-1)?.kind, 'refused');
    assert.equal((await world.claim({ limit: 1000 })).length, 297);
    await world.holds(2);
  });

  test('empty lists are accepted and do nothing', async () => {
    assert.deepEqual(await world.commit(), []);
    assert.deepEqual(await world.outbox.settle([]), []);
    await world.phones.receive([]);
    await world.sound();
  });
}
