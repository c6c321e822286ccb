import assert from 'node:assert/strict';
import { decide } from '../../outbox/decide.js';
import type { Send } from '../../outbox/send.js';
import { ACCOUNT, aSend, messageId, recipients } from './fixtures.js';
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
}
