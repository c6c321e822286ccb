import assert from 'node:assert/strict';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../../src/common/time.js';
import { UsageStore } from '../../../../src/management/usage/usage-store.js';
import { books, rollUp } from '../accounts/usage.js';
import { ACCOUNT, aSend, messageId, range, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { atOnce, type Race } from './race.js';

/** The start of the day of `START`. */
const TODAY = START - (START % DAY_MS);
/** When all sends of the race are over. */
const NOW = START + 4 * HOUR_MS;

/** Races for the summary of usage. */
export const USAGE_RACES: Readonly<Record<string, Race>> = {
  'usage read and rolled up while sends and refunds of its hours are committed: it agrees with the ledger': async (
    world,
    hand,
  ) => {
    await world.fund(10_000);
    const send = async (turn: number): Promise<void> => {
      for (const index of range(12)) {
        // Some belong to hours that are rolled up meanwhile, like those of long transactions.
        const at = START + (index % 4) * HOUR_MS;
        const id = 100 * turn + index;
        const numbers = ['22670000000', '221770000000'].map((number, place) => ({ number, units: 2 - place }));
        await world.accept(aSend(id, { at, recipients: numbers }));
        await world.settle(messageId(id), 'failed', { position: index % 2, at: at + SECOND_MS });
      }
    };
    const roll = async (turn: number): Promise<void> => {
      for (const index of range(6)) {
        const now = START + ((index + turn) % 5) * HOUR_MS;
        await rollUp(world, { now, verifyFrom: TODAY }, hand(turn).store(UsageStore));
      }
    };
    const look = async (): Promise<void> => {
      for (const _ of range(6)) {
        const before = await books(world, TODAY, TODAY + DAY_MS);
        const { charged, refunded } = await totalOf(world, NOW);
        const after = await books(world, TODAY, TODAY + DAY_MS);
        assert.ok(before.charged <= charged && charged <= after.charged, `${charged}`);
        assert.ok(before.refunded <= refunded && refunded <= after.refunded, `${refunded}`);
      }
    };
    await atOnce(6, (turn) => (turn < 3 ? send(turn) : turn < 5 ? roll(turn) : look()));
    assert.deepEqual(await totalOf(world, NOW), await books(world, TODAY, TODAY + DAY_MS));
    await rollUp(world, { now: NOW, verifyFrom: TODAY });
    // Long afterwards, only the summary is read.
    assert.deepEqual(await totalOf(world, NOW + 100 * DAY_MS), await books(world, TODAY, TODAY + DAY_MS));
    await world.sound();
  },
};

async function totalOf(world: StorageFixture, now: number) {
  const period = { since: TODAY, until: TODAY + DAY_MS, groupBy: [], now } as const;
  const [row] = await world.usage.usage({ accountId: ACCOUNT, ...period });
  const { charged = 0, refunded = 0, sends = 0 } = row ?? {};
  return { charged, refunded, sends };
}
