import { expect, test } from '@jest/globals';
import { closeAfterEach } from '../../../support/common/opened.js';
import { type Check, readEverything, searchFor, searchRecipients } from '../../../support/storage/read-cases.js';
import { MAX_ROWS, ReadFixture } from '../../../support/storage/read-fixture.js';

const opened = closeAfterEach();

test('on SQLite all reads of an account use an index and a limited number of rows', async () => {
  const world = opened(await ReadFixture.open({ type: 'better-sqlite3', database: ':memory:' }));
  const check: Check = async ({ statements, rows }, most) => {
    expect(rows.length).toBeLessThanOrEqual(most);
    for (const { sql, params } of statements) {
      const plan: { detail: string }[] = await world.database.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
      const steps = plan.map(({ detail }) => detail);
      // Only the rows of a page are sorted.
      expect([sql, steps.filter((step) => /SCAN messaging|SCAN (?!json_each|s$|k$|v$|\()/.test(step))]).toEqual([
        sql,
        [],
      ]);
      expect([sql, steps.some((step) => /^SEARCH .*messaging_recipient_queue/.test(step))]).toEqual([sql, false]);
    }
  };
  await readEverything(world, check);
  expect(await searchFor(world, { sender: 'RARE' }, check, 2200)).toBe(2);
  // 20 000 of the large message's recipients, the other 10 000 with 2000 messages, and the rest.
  expect(await searchFor(world, { status: 'failed' }, check, MAX_ROWS)).toBe(3);
  expect(await searchRecipients(world, check, 60)).toBe(2);
});

test('a search of an account that stops in the middle of a message continues there', async () => {
  const world = opened(await ReadFixture.open({ type: 'better-sqlite3', database: ':memory:' }));
  const first = await world.list({ status: 'failed' });
  const stopped = { items: [], next: expect.stringMatching(/:20000$/), searchedUntil: expect.any(Number) };
  expect(first.result).toEqual(stopped);
  const looked = first.statements.filter(({ sql }) => sql.includes('r.position >= ?')).map(({ params }) => params);
  expect(looked).toEqual([[expect.any(String), 0, 20_000, 'failed']]);
  const second = await world.list({ status: 'failed', after: first.result.next });
  const places = second.statements.filter(({ sql }) => sql.includes('r.position >= ?')).map(({ params }) => params);
  expect(places[0]).toEqual([expect.any(String), 20_000, 30_000, 'failed']);
});
