import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import { capped } from '../accounts/key-caps.js';
import { aSend, range, recipients, START } from '../fixtures.js';
import { kinds } from '../storage-fixture.js';
import { atOnce, type Race, tally } from './race.js';

const TODAY = Math.floor(START / DAY_MS);

/** Races for the caps of keys: no unit above a cap is spent. */
export const KEY_CAP_RACES: Readonly<Record<string, Race>> = {
  '200 sends at once on a key for 100 units: exactly 100 are accepted': async (world, hand) => {
    await world.fund(1000);
    const outcomes = await atOnce(200, (index) =>
      hand(index)
        .store(OutboxStore)
        .commit([aSend(index, capped(100))], decide),
    );
    const counts = tally(kinds(outcomes.flat()));
    assert.deepEqual([counts.get('accepted'), counts.get('key_cap')], [100, 100]);
    assert.equal((await world.outbox.keySpending(['k0'], TODAY)).get('k0'), 100);
    await world.holds(900);
  },

  '200 sends at once of two keys of one family, in batches and beside sends without a cap: no unit above it': async (
    world,
    hand,
  ) => {
    await world.fund(1000);
    const outcomes = await atOnce(50, async (batch) => {
      const sends = range(4).map((place) => {
        const over = { ...capped(101, place % 2 === 0 ? 'k0' : 'k1'), recipients: recipients(1, 2) };
        return aSend(batch * 10 + place, over);
      });
      const storage = hand(batch);
      const outbox = storage.store(OutboxStore);
      const free = { ...aSend(batch * 10 + 9), key: { id: 'k5', family: 'k5' } };
      const first = await outbox.commit([...sends, free], decide, undefined, 'none');
      const busy = [...sends, free].filter((_, index) => first[index]?.kind === 'busy');
      return [...first, ...(busy.length > 0 ? await outbox.commit(busy, decide) : [])];
    });
    const counts = tally(kinds(outcomes.flat()));
    assert.deepEqual([counts.get('accepted'), counts.get('key_cap')], [100, 150]);
    assert.equal((await world.outbox.keySpending(['k0'], TODAY)).get('k0'), 100);
    await world.holds(850);
  },
};
