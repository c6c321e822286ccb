import { expect, test } from '@jest/globals';
import { closeAfterEach } from '../../../support/common/opened.js';
import { LANES, LongLane } from '../../../support/outbox/long-lane.js';

const opened = closeAfterEach();

test('on SQLite the head of a lane is the first entry of an index: nothing is sorted and no whole table is read', async () => {
  const long = opened(await LongLane.open({ type: 'better-sqlite3', database: ':memory:' }));
  const { sql, params } = long.heads;
  const plan: { detail: string }[] = await long.database.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
  const steps = plan.map(({ detail }) => detail);
  expect(steps.filter((step) => /TEMP B-TREE|SCAN (?!json_each)/.test(step))).toEqual([]);
  const searches = steps.filter((step) => step.startsWith('SEARCH'));
  expect(new Set(searches)).toEqual(
    new Set([
      'SEARCH h USING COVERING INDEX messaging_recipient_turn (channel=? AND lane=?)',
      'SEARCH r USING PRIMARY KEY (message_id=? AND position=?)',
    ]),
  );
  expect(await long.claim()).toEqual({ claimed: LANES.length, statements: 3 });
});
