import { expect, test } from '@jest/globals';
import { MEASURES, MeasureFixture, sorted } from '../../../support/accounts/measure-fixture.js';
import { closeAfterEach } from '../../../support/common/opened.js';

const opened = closeAfterEach();

test('on SQLite gauges are read by indexes, in at most six statements', async () => {
  const world = opened(await MeasureFixture.open({ type: 'better-sqlite3', database: ':memory:' }));
  const { measures, statements } = await world.measure();
  expect(sorted(measures)).toEqual({ ...MEASURES, deadRows: [], oldestSnapshot: undefined });
  expect(statements.length).toBeLessThanOrEqual(6);
  for (const { sql, params } of statements) {
    const plan: { detail: string }[] = await world.database.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
    const scans = plan.map(({ detail }) => detail).filter((step) => /^SCAN (messaging|r\b|e\b|c\b)/.test(step));
    // Endpoints are few, and the count has a limit.
    expect([sql, scans.filter((step) => step !== 'SCAN messaging_endpoint')]).toEqual([sql, []]);
  }
});
