import assert from 'node:assert/strict';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { ACCOUNT, aSend, messageId, onceKey, range, START } from '../fixtures.js';
import { kinds } from '../storage-fixture.js';
import { atOnce, type Race, tally } from './race.js';

/** Races for units: the sums are the same as without concurrency. */
export const MONEY_RACES: Readonly<Record<string, Race>> = {
  '200 sends at once on a balance for 100: exactly 100 are accepted': async (world, hand) => {
    await world.fund(100);
    const outcomes = await atOnce(200, (index) =>
      hand(index)
        .store(OutboxStore)
        .commit([aSend(index)], decide),
    );
    const counts = tally(kinds(outcomes.flat()));
    assert.deepEqual([counts.get('accepted'), counts.get('insufficient_balance')], [100, 100]);
    await world.holds(0);
  },

  'batches over many accounts at once, in any order of accounts: they spend exactly what the balances cover': async (
    world,
    hand,
  ) => {
    const accounts = range(10).map((index) => `acc${index}`);
    for (const id of accounts) await world.fund(25, id);
    const outcomes = await atOnce(40, (batch) => {
      const order =
        batch % 3 === 0 ? accounts.toReversed() : [...accounts.slice(batch % 10), ...accounts.slice(0, batch % 10)];
      const sends = order.map((accountId, index) => aSend(batch * 10 + index, { accountId }));
      return hand(batch).store(OutboxStore).commit(sends, decide);
    });
    assert.equal(tally(kinds(outcomes.flat())).get('accepted'), 250);
    for (const id of accounts) assert.equal(await world.ledger.balance(id), 0);
    await world.sound();
  },

  '200 sends at once that do not wait: a busy one has written nothing': async (world, hand) => {
    await world.fund(100);
    const accepted = await atOnce(200, async (index) => {
      const storage = hand(index);
      const outbox = storage.store(OutboxStore);
      const [first] = await outbox.commit([aSend(index)], decide, undefined, 'none');
      if (first?.kind !== 'busy') return first?.kind;
      assert.equal(await outbox.find(ACCOUNT, 'sms', messageId(index)), undefined);
      return (await outbox.commit([aSend(index)], decide))[0]?.kind;
    });
    const counts = tally(accepted);
    assert.deepEqual([counts.get('accepted'), counts.get('refused')], [100, 100]);
    await world.holds(0);
  },

  'batches over many accounts at once that do not wait: they spend exactly what the balances cover': async (
    world,
    hand,
  ) => {
    const accounts = range(5).map((index) => `acc${index}`);
    for (const id of accounts) await world.fund(25, id);
    await atOnce(40, async (batch) => {
      const storage = hand(batch);
      const outbox = storage.store(OutboxStore);
      const ledger = storage.store(LedgerStore);
      const sends = accounts.map((accountId, index) => aSend(batch * 10 + index, { accountId }));
      const outcomes = await outbox.commit(sends, decide, undefined, 'none');
      const busy = sends.filter((_, index) => outcomes[index]?.kind === 'busy');
      if (busy.length > 0) await outbox.commit(busy, decide);
      // Units of a concurrent top-up are either spent or left in the balance.
      const accountId = `acc${batch % 5}`;
      await ledger.post({ id: `p${batch}`, accountId, kind: 'topup', units: 1, at: START });
    });
    for (const [place, accountId] of accounts.entries()) {
      const sends = range(20).map((index) => aSend(1000 + place * 20 + index, { accountId }));
      await hand(0).store(OutboxStore).commit(sends, decide, undefined, 'none');
      await world.holds(0, accountId);
      const { items } = await world.outbox.list({ accountId, channel: 'sms', kinds: ['text'], limit: 100 });
      assert.equal(items.length, 33);
    }
  },

  '50 sends at once under one key: one is accepted, 49 get its answer': async (world, hand) => {
    await world.fund(100);
    const outcomes = await atOnce(50, (index) =>
      hand(index)
        .store(OutboxStore)
        .commit([aSend(index, { once: onceKey() })], decide),
    );
    const counts = tally(kinds(outcomes.flat()));
    assert.deepEqual([counts.get('accepted'), counts.get('replayed')], [1, 49]);
    const replies = outcomes.flat().map((outcome) => ('reply' in outcome ? JSON.stringify(outcome.reply) : ''));
    assert.equal(new Set(replies).size, 1);
    await world.holds(99);
  },

  'one id 20 times at once: stored and charged once': async (world, hand) => {
    await world.fund(100);
    const results = await Promise.allSettled(
      range(20).map((index) =>
        hand(index)
          .store(OutboxStore)
          .commit([aSend(1)], decide),
      ),
    );
    assert.equal(tally(results.map(({ status }) => status)).get('fulfilled'), 1);
    await world.holds(99);
  },

  'one posting 50 times at once: posted once': async (world, hand) => {
    await world.fund(0);
    const posting = { id: 'p1', accountId: ACCOUNT, kind: 'topup', units: 5, at: START } as const;
    const answers = tally(await atOnce(50, (index) => hand(index).store(LedgerStore).post(posting)));
    assert.deepEqual([answers.get('posted'), answers.get('repeated')], [1, 49]);
    await world.holds(5);
  },

  '20 ids posted to ten accounts at once: one of them gets the units, the others find it taken': async (
    world,
    hand,
  ) => {
    const accounts = range(10).map((index) => `acc${index}`);
    for (const id of accounts) await world.fund(0, id);
    const answers = await atOnce(200, (index) => {
      const posting = { id: `p${Math.floor(index / 10)}`, accountId: `acc${index % 10}`, units: 5, at: START };
      return hand(index)
        .store(LedgerStore)
        .post({ ...posting, kind: 'topup' });
    });
    assert.deepEqual([...tally(answers)].sort(), [
      ['posted', 20],
      ['taken', 180],
    ]);
    const balances = await Promise.all(accounts.map((id) => world.ledger.balance(id)));
    assert.equal(
      balances.reduce<number>((sum, balance) => sum + Number(balance), 0),
      100,
    );
    await world.sound();
  },

  '200 adjustments down at once on a balance for 100: exactly 100 are posted': async (world, hand) => {
    await world.fund(100);
    const down = { accountId: ACCOUNT, kind: 'adjust', units: -1, at: START } as const;
    const answers = tally(
      await atOnce(200, (index) =>
        hand(index)
          .store(LedgerStore)
          .post({ ...down, id: `p${index}` }),
      ),
    );
    assert.deepEqual([answers.get('posted'), answers.get('refused')], [100, 100]);
    await world.holds(0);
  },

  'sends, top-ups and refunds of one account at once: no unit is lost or created': async (world, hand) => {
    await world.fund(100);
    await world.accept(...range(50).map((index) => aSend(index)));
    await world.claim();
    const answers = await atOnce(150, async (index) => {
      const turn = Math.floor(index / 3);
      const storage = hand(turn);
      const outbox = storage.store(OutboxStore);
      const ledger = storage.store(LedgerStore);
      if (index % 3 === 0) return kinds(await outbox.commit([aSend(100 + turn), aSend(200 + turn)], decide));
      if (index % 3 === 1) {
        const id = `p${turn}`;
        return [await ledger.post({ id, accountId: ACCOUNT, kind: 'topup', units: 3, at: START })];
      }
      const failure = { messageId: messageId(turn), position: 0, status: 'failed', attempt: 1, at: START } as const;
      return (await outbox.settle([failure])).map(({ status }) => status);
    });
    const counts = tally(answers.flat());
    assert.deepEqual([counts.get('posted'), counts.get('failed')], [50, 50]);
    await world.holds(100 - 50 + 150 + 50 - (counts.get('accepted') ?? 0));
  },
};
