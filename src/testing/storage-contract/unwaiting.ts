import assert from 'node:assert/strict';
import { decide } from '../../outbox/decide.js';
import type { Send } from '../../outbox/send.js';
import { ACCOUNT, aSend, messageId, onceKey, recipients, START } from './fixtures.js';
import { countIn, counting, look } from './records.js';
import type { TestRunner } from './test-runner.js';
import { kinds, type World } from './world.js';

/** Commits that do not wait for an account that somebody else holds. */
export function unwaitingTests({ test }: TestRunner, world: World): void {
  const find = (index: number, accountId = ACCOUNT) => world.outbox.find(accountId, 'sms', messageId(index));

  test('an undisturbed account is served without waiting', async () => {
    await world.fund(2);
    const sends = [aSend(1), aSend(2), aSend(3)];
    const outcomes = await world.outbox.commit(
      sends,
      (all, seen) => {
        assert.ok((seen.balances.get(ACCOUNT) ?? 0) >= 2);
        const [first, ...rest] = all;
        assert.ok(first);
        const refusal = { kind: 'refused', why: 'insufficient_balance' } as const;
        return {
          outcomes: [{ kind: 'accepted', reply: first.reply }, ...rest.map(() => refusal)],
          accepted: [first],
          spent: new Map([[ACCOUNT, 1]]),
          records: new Map(),
        };
      },
      undefined,
      'skip',
    );
    assert.deepEqual(kinds(outcomes), ['accepted', 'insufficient_balance', 'insufficient_balance']);
    await world.holds(1);
  });

  test('a batch that does not wait is decided account by account, and its turn leaves nothing behind', async () => {
    await world.fund(3);
    await world.fund(1, 'acc2');
    await world.fund(1, 'poor');
    const skip = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, 'skip');
    const two = { recipients: recipients(2) };
    assert.deepEqual(kinds(await skip(aSend(1), aSend(2, { accountId: 'acc2' }))), ['accepted', 'accepted']);
    // An account that cannot pay, and one that does not exist, each twice: after a batch that went well, and after another.
    for (const [index, accountId] of ['poor', 'poor', 'nobody', 'nobody'].entries()) {
      const outcomes = await skip(
        aSend(10 + index, { accountId, ...two }),
        aSend(20 + index, { recipients: recipients(0) }),
      );
      const why = accountId === 'poor' ? 'insufficient_balance' : 'account_not_found';
      assert.deepEqual(kinds(outcomes), [why, 'accepted']);
      assert.equal(await find(10 + index, accountId), undefined);
      assert.equal((await find(20 + index))?.units, 0);
    }
    assert.deepEqual(kinds(await skip(aSend(3, two))), ['accepted']);
    assert.deepEqual(kinds(await skip(aSend(4))), ['insufficient_balance']);
    assert.equal((await world.claim()).length, 4);
    await world.holds(0);
    await world.holds(0, 'acc2');
    await world.holds(1, 'poor');
  });

  test('a repeat under an Idempotency-Key is none without waiting either, after a batch that went well', async () => {
    await world.fund(9);
    const skip = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, 'skip');
    const first = aSend(1, { once: onceKey() });
    assert.deepEqual(kinds(await skip(aSend(10), aSend(11))), ['accepted', 'accepted']);
    assert.deepEqual(kinds(await skip(first)), ['accepted']);
    assert.deepEqual(await skip(aSend(2, { once: onceKey() })), [{ kind: 'replayed', reply: first.reply }]);
    const other = onceKey({ key: 'k2' });
    const outcomes = await skip(
      aSend(3, { once: onceKey({ fingerprint: 'f2' }) }),
      aSend(4, { once: other }),
      aSend(5, { once: other }),
      aSend(6),
    );
    assert.deepEqual(kinds(outcomes), ['idempotency_mismatch', 'accepted', 'replayed', 'accepted']);
    assert.deepEqual((await world.outbox.replay(onceKey(), START))?.reply, first.reply);
    for (const index of [2, 3, 5]) assert.equal(await find(index), undefined);
    await world.holds(4);
  });

  for (const patience of ['skip', 'accounts'] as const) {
    test(`a guard that nobody is in the way of decides on its records with patience ${patience}`, async () => {
      await world.fund(9);
      const commit = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, patience);
      const guarded = (index: number) => aSend(index, { guard: counting('a', messageId(index), 2) });
      assert.deepEqual(kinds(await commit(guarded(1), aSend(2))), ['accepted', 'accepted']);
      assert.deepEqual(kinds(await commit(guarded(3), guarded(4), aSend(5))), ['accepted', 'guarded', 'accepted']);
      await world.outbox.whenFree(['a', 'b']);
      assert.equal(countIn(await look(world, 'a'), 'a'), 2);
      await world.holds(5);
    });
  }
}
