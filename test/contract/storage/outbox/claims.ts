import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import type { Send } from '../../../../src/outbox/accept/send.js';
import type { Delivery } from '../../../../src/outbox/outbox-records.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, onceKey, phone, range, recipients, START } from '../fixtures.js';
import { kinds, LEASE, places, type StorageFixture } from '../storage-fixture.js';
import { countIn, counting, look } from './records.js';

export function claimTests({ test }: TestRunner, world: StorageFixture): void {
  test('a claimed delivery contains everything that its channel needs', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + 3, sender: 'ALERTE' }));
    assert.deepEqual(await world.claim({ now: START + 4 }), [
      {
        messageId: messageId(1),
        position: 0,
        accountId: ACCOUNT,
        channel: 'sms',
        lane: undefined,
        priority: 'normal',
        sender: 'ALERTE',
        payload: { kind: 'text', text: 'Bonjour' },
        number: phone(1),
        attempt: 1,
        acceptedAt: START + 3,
      },
    ]);
    await world.stand(messageId(1), ['sending']);
  });

  test('a send with a lease is stored as a claim leaves it, and is claimed again only after the lease', async () => {
    await world.fund(60);
    const leaseUntil = START + LEASE;
    const personal = { kind: 'text', text: 'Bonjour {name}', personal: 'off' };
    const named = recipients(55).map((recipient, index) => ({ ...recipient, vars: { name: `Awa ${index}` } }));
    await world.accept(
      aSend(1, { leaseUntil, payload: personal, recipients: named.slice(0, 1) }),
      aSend(2, { leaseUntil, payload: personal, recipients: named }),
      aSend(4, { leaseUntil: leaseUntil + 10, payload: personal, recipients: named.slice(0, 1) }),
    );
    await world.accept(aSend(3));
    assert.deepEqual(places(await world.claim({ now: leaseUntil - 1, abandoned: true })), [`${messageId(3)}/0`]);
    await world.stand(messageId(1), ['sending']);
    await world.settle(messageId(1), 'delivered', { attempt: 1 });
    await world.stand(messageId(1), ['delivered']);
    const again = await world.claim({ now: leaseUntil, abandoned: true });
    assert.equal(again.length, 55);
    assert.deepEqual(
      new Set(again.map(({ messageId: id, attempt, abandoned }) => `${id} ${attempt} ${abandoned}`)),
      new Set([`${messageId(2)} 2 true`]),
    );
    assert.deepEqual(new Set(again.map(({ vars }) => vars?.name)), new Set(named.map(({ vars }) => vars.name)));
    const last = await world.claim({ now: leaseUntil + 10, abandoned: true });
    assert.deepEqual(
      last.map(({ messageId: id, vars }) => [id, vars]),
      [[messageId(4), { name: 'Awa 0' }]],
    );
  });

  test('a delivery is due at its time, not before', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + SECOND_MS }));
    assert.deepEqual(await world.claim({ now: START + SECOND_MS - 1 }), []);
    assert.equal((await world.claim({ now: START + SECOND_MS })).length, 1);
  });

  test('the oldest due deliveries come first, up to the limit', async () => {
    await world.fund(5);
    const times = [30, 10, 50, 20, 40];
    for (const [index, time] of times.entries()) await world.accept(aSend(index, { at: START + time }));
    const take = async (limit: number) =>
      (await world.claim({ now: START + SECOND_MS, limit })).map(({ acceptedAt }) => acceptedAt - START);
    assert.deepEqual(await take(2), [10, 20]);
    assert.deepEqual(await take(9), [30, 40, 50]);
  });

  test('a retry counts as new as its new time', async () => {
    await world.fund(2);
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START + 20 * SECOND_MS });
    await world.accept(aSend(2, { at: START + 10 * SECOND_MS }));
    const claimed = await world.claim({ now: START + 30 * SECOND_MS });
    assert.deepEqual(places(claimed), [`${messageId(2)}/0`, `${messageId(1)}/0`]);
  });

  test('all recipients of a large send are due when it is accepted, in their order, even beside refused ones', async () => {
    await world.fund(3000);
    const some = recipients(1200).map((each, index) => (index % 7 === 6 ? { ...each, refused: 'OPTED_OUT' } : each));
    for (const [index, to] of [recipients(1200), some].entries()) {
      await world.accept(aSend(index, { recipients: to, at: START + index * SECOND_MS }));
      const claimed: Delivery[] = [];
      const now = START + index * SECOND_MS;
      for (const _ of range(4)) claimed.push(...(await world.claim({ now, limit: 400 })));
      const chunks = claimed.map(({ position }) => Math.floor(position / 500));
      assert.deepEqual(chunks, [...chunks].sort());
      const expected = to.flatMap((each, position) => ('refused' in each ? [] : [position]));
      assert.deepEqual(
        claimed.map(({ position }) => position).sort((a, b) => a - b),
        expected,
      );
    }
  });

  test('recipients of one send are claimed separately, each once', async () => {
    await world.fund(5);
    await world.accept(aSend(1, { recipients: recipients(5) }));
    const claimed = [
      ...(await world.claim({ limit: 2 })),
      ...(await world.claim({ limit: 2 })),
      ...(await world.claim()),
    ];
    assert.deepEqual(claimed.map(({ position }) => position).sort(), range(5));
    for (const { position, number } of claimed) assert.equal(number, phone(position));
    assert.deepEqual(await world.claim(), []);
  });

  test('another channel is not affected', async () => {
    await world.fund(2);
    await world.accept(aSend(1), aSend(2, { channel: 'wa' }));
    assert.deepEqual(places(await world.claim()), [`${messageId(1)}/0`]);
    await world.stand(messageId(2), ['queued']);
    assert.deepEqual(places(await world.claim({ channel: 'wa' })), [`${messageId(2)}/0`]);
    assert.deepEqual(await world.claim({ channel: 'SMS' }), []);
  });

  test('a lease is respected as long as it lasts', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    for (const abandoned of [false, true]) {
      assert.deepEqual(await world.claim({ now: START + LEASE - 1, abandoned }), []);
    }
  });

  test('a delivery left past its lease is taken over only if asked for, as another attempt', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    assert.deepEqual(await world.claim({ now: START + LEASE + 1 }), []);
    const [again] = await world.claim({ now: START + LEASE + 1, abandoned: true });
    assert.equal(again?.attempt, 2);
    assert.deepEqual(await world.claim({ now: START + LEASE + 2, abandoned: true }), []);
    const [third] = await world.claim({ now: START + 2 * LEASE + 2, abandoned: true });
    assert.equal(third?.attempt, 3);
  });

  test('every later claim says that an earlier attempt may have been taken, whether its worker left it or settled it as a doubt', async () => {
    await world.fund(3);
    await world.accept(aSend(1), aSend(2), aSend(3));
    await world.claim({ limit: 3 });
    const again = { attempt: 1, dueAt: START + LEASE };
    await world.settle(messageId(2), 'queued', { ...again, doubtful: true });
    await world.settle(messageId(3), 'queued', again);
    const doubts = (claimed: readonly Delivery[]) =>
      Object.fromEntries(claimed.map(({ messageId: id, doubtful }) => [id, doubtful]));
    const [first, second] = [START + LEASE + 1, START + 3 * LEASE];
    const expected = { [messageId(1)]: true, [messageId(2)]: true, [messageId(3)]: undefined };
    assert.deepEqual(doubts(await world.claim({ now: first, abandoned: true })), expected);
    // The known failure of a later attempt does not resolve the earlier doubt.
    for (const index of [1, 2, 3]) {
      await world.settle(messageId(index), 'queued', { attempt: 2, dueAt: second, at: first });
    }
    assert.deepEqual(doubts(await world.claim({ now: second })), expected);
  });

  test('a retry counts its attempts and waits for its time', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { at: START + SECOND_MS }));
    for (const attempt of [1, 2, 3]) {
      const now = START + attempt * SECOND_MS;
      assert.deepEqual(await world.claim({ now: now - 1, abandoned: true }), []);
      const [delivery] = await world.claim({ now });
      assert.equal(delivery?.attempt, attempt);
      await world.settle(messageId(1), 'queued', { attempt, dueAt: now + SECOND_MS, at: now });
    }
  });

  test('a delivery that needs no further attempt is not claimed', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
    await world.fund(ends.length);
    for (const [index, status] of ends.entries()) {
      await world.accept(aSend(index));
      await world.claim();
      await world.settle(messageId(index), status, { attempt: 1, dueAt: START + SECOND_MS });
    }
    assert.deepEqual(await world.claim({ now: START + 10 ** 9, abandoned: true }), []);
  });
}

export function nextDueTests({ test }: TestRunner, world: StorageFixture): void {
  const next = (channel = 'sms') => world.outbox.nextDue(channel);

  test('on an empty channel nothing is waiting', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { channel: 'wa' }));
    assert.equal(await next(), undefined);
    assert.equal(await next('wa'), START);
  });

  test('the earliest delivery determines the next time', async () => {
    await world.fund(3);
    for (const [index, time] of [30, 10, 20].entries()) await world.accept(aSend(index, { at: START + time }));
    assert.equal(await next(), START + 10);
  });

  test('a retry determines when it is to be tried again', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'queued', { attempt: 1, dueAt: START + 7 * SECOND_MS });
    assert.equal(await next(), START + 7 * SECOND_MS);
  });

  test('the end of a lease and a report deadline count too, because somebody must look then', async () => {
    await world.fund(1);
    await world.accept(aSend(1));
    await world.claim();
    assert.equal(await next(), START + LEASE);
    await world.settle(messageId(1), 'sent', { attempt: 1, dueAt: START + 99 * SECOND_MS });
    assert.equal(await next(), START + 99 * SECOND_MS);
  });

  test('a delivery that needs no further work does not count', async () => {
    const ends = ['sent', 'delivered', 'undelivered', 'failed', 'unknown', 'read'] as const;
    await world.fund(ends.length);
    for (const [index, status] of ends.entries()) {
      await world.accept(aSend(index));
      await world.claim();
      await world.settle(messageId(index), status, { attempt: 1 });
      assert.equal(await next(), undefined, status);
    }
  });

  test('lanes count like other deliveries', async () => {
    await world.fund(1);
    await world.accept(aSend(1, { lane: 'a', accountId: ACCOUNT, at: START + 5 }));
    assert.equal(await next(), START + 5);
  });
}

/** Commits that do not wait for an account that another transaction has locked. */
export function unwaitingTests({ test }: TestRunner, world: StorageFixture): void {
  const find = (index: number, accountId = ACCOUNT) => world.outbox.find(accountId, 'sms', messageId(index));

  test('an account that nobody locks is served without waiting', async () => {
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
          decisions: [{ kind: 'accepted', reply: first.reply }, ...rest.map(() => refusal)],
          accepted: [first],
          spent: new Map([[ACCOUNT, 1]]),
          records: new Map(),
          keySpending: new Map(),
        };
      },
      undefined,
      'none',
    );
    assert.deepEqual(kinds(outcomes), ['accepted', 'insufficient_balance', 'insufficient_balance']);
    await world.holds(1);
  });

  test('a batch that does not wait is decided account by account, and its turn leaves nothing behind', async () => {
    await world.fund(3);
    await world.fund(1, 'acc2');
    await world.fund(1, 'poor');
    const skip = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, 'none');
    const two = { recipients: recipients(2) };
    assert.deepEqual(kinds(await skip(aSend(1), aSend(2, { accountId: 'acc2' }))), ['accepted', 'accepted']);
    // An account without units, and an unknown one, each twice: after an accepted batch, and after a refused one.
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

  test('a repeat under an Idempotency-Key is refused without waiting too, after a successful batch', async () => {
    await world.fund(9);
    const skip = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, 'none');
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

  for (const waitFor of ['none', 'accounts'] as const) {
    test(`a policy whose records are free decides on them with waitFor ${waitFor}`, async () => {
      await world.fund(9);
      const commit = (...sends: readonly Send[]) => world.outbox.commit(sends, decide, undefined, waitFor);
      const policySend = (index: number) => aSend(index, { policy: counting('a', messageId(index), 2) });
      assert.deepEqual(kinds(await commit(policySend(1), aSend(2))), ['accepted', 'accepted']);
      assert.deepEqual(kinds(await commit(policySend(3), policySend(4), aSend(5))), ['accepted', 'policy', 'accepted']);
      await world.outbox.whenFree(['a', 'b']);
      assert.equal(countIn(await look(world, 'a'), 'a'), 2);
      await world.holds(5);
    });
  }
}
