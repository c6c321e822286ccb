import assert from 'node:assert/strict';
import { OptOutStore } from '../../../../src/sms/opt-out/opt-out-store.js';
import { ACCOUNT, range } from '../fixtures.js';
import { anOptOut } from '../sms/opt-outs.js';
import { atOnce, type Race } from './race.js';

/** Races for opt-outs. */
export const OPT_OUT_RACES: Readonly<Record<string, Race>> = {
  'the same numbers opted out 20 times at once: each is added once': async (world, hand) => {
    // Each adds the numbers with different ids and in a different order.
    const answers = await atOnce(20, (turn) => {
      const entries = range(10).map((index) => anOptOut(100 * turn + index, { number: `2267000000${index}` }));
      return hand(turn)
        .store(OptOutStore)
        .add(turn % 2 === 0 ? entries : entries.reverse());
    });
    const added = answers.flat();
    assert.equal(new Set(added.map(({ number }) => number)).size, 10);
    assert.equal(added.length, 10);
    const { items } = await world.optOuts.list({ accountId: ACCOUNT, limit: 100 });
    assert.deepEqual(items.map(({ id }) => id).sort(), added.map(({ id }) => id).sort());
  },

  'the same numbers taken back 20 times at once: each is removed once': async (world, hand) => {
    const entries = range(10).map((index) => anOptOut(index));
    await world.optOuts.add(entries);
    const answers = await atOnce(20, (turn) =>
      hand(turn)
        .store(OptOutStore)
        .remove(turn % 2 === 0 ? entries : [...entries].reverse()),
    );
    assert.deepEqual(
      answers
        .flat()
        .map(({ id }) => id)
        .sort(),
      entries.map(({ id }) => id),
    );
  },
};
