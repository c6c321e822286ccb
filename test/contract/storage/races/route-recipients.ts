import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import { RouteRecipientStore } from '../../../../src/sms/route-recipients/route-recipient-store.js';
import { phone, range, START } from '../fixtures.js';
import { atOnce, type Race } from './race.js';

const QUOTA = { route: 'sim', count: 10, windowMs: DAY_MS };

/** Races for the places of a route with a limit of different recipients. */
export const ROUTE_RECIPIENT_RACES: Readonly<Record<string, Race>> = {
  '20 processes reserve places for different numbers at once: no more are admitted than there are places': async (
    world,
    hand,
  ) => {
    const answers = await atOnce(20, (turn) =>
      hand(turn)
        .store(RouteRecipientStore)
        .reserve(
          QUOTA,
          range(3).map((index) => phone(3 * turn + index)),
          START,
        ),
    );
    const admitted = new Set(answers.flatMap((answer) => [...answer.admitted]));
    assert.equal(admitted.size, QUOTA.count);
    // The same numbers, and only these, are still admitted.
    const all = range(60).map((index) => phone(index));
    const again = await world.storage.store(RouteRecipientStore).reserve(QUOTA, all, START);
    assert.deepEqual([...again.admitted].toSorted(), [...admitted].toSorted());
  },
};
