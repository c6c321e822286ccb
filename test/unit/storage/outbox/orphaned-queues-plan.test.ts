import { expect, test } from '@jest/globals';
import { SessionStore } from '../../../../src/msgapp/sessions/session-store.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { EndedSessions, LANES, LOOKED_AT } from '../../../support/outbox/ended-sessions.js';

const opened = closeAfterEach();

test('on SQLite stranded sessions are found by the index of lanes, and no session without deliveries is read', async () => {
  const ended = opened(await EndedSessions.open({ type: 'better-sqlite3', database: ':memory:' }));
  expect(await ended.storage.store(SessionStore).stranded('wa', LANES[1] ?? '', LOOKED_AT)).toMatchObject({
    items: [{ id: LANES[2] }],
    next: LANES[2],
  });
  const steps: string[] = [];
  for (const { sql, params } of ended.look) {
    const plan: { detail: string }[] = await ended.database.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
    steps.push(...plan.map(({ detail }) => detail));
  }
  expect(steps.filter((step) => /SCAN (?!json_each)|TEMP B-TREE/.test(step))).toEqual([]);
  const [one, ...others] = steps.filter((step) => step.startsWith('SEARCH'));
  expect(one).toBe('SEARCH r USING COVERING INDEX messaging_recipient_turn (channel=? AND lane>? AND lane<?)');
  expect(others).toEqual([
    'SEARCH a USING PRIMARY KEY (id=?)',
    'SEARCH r USING INDEX messaging_recipient_turn (channel=? AND lane=?)',
  ]);
});
