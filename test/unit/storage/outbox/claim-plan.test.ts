import { expect, test } from '@jest/globals';
import { claimDeliveries } from '../../../../src/outbox/queue/claim.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import type { Operation, Statement } from '../../../../src/storage/engine/operation.js';
import { START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { Backlog, SHARED } from '../../../support/outbox/backlog.js';

const opened = closeAfterEach();

test('on SQLite a claim seeks accounts and due rows in the index, sorts nothing and reads no whole table', async () => {
  const backlog = opened(await Backlog.open({ type: 'better-sqlite3', database: ':memory:' }));
  const db = await databaseFor(backlog.database);
  const statements: Statement[] = [];
  function* watched<T>(operation: Operation<T>): Operation<T> {
    let step = operation.next();
    while (!step.done) {
      statements.push(step.value);
      step = operation.next(yield step.value);
    }
    return step.value;
  }
  const order = { channel: 'sms', limit: 10, now: START + 1, leaseUntil: START + 9, abandoned: true };
  const claimed = await db.write(() => watched(claimDeliveries(db.dialect, order)));
  expect(claimed.map(({ accountId }) => accountId).sort()).toEqual(SHARED);
  // Accounts and their due rows; what the first accounts leave of their share; messages; the update.
  expect(statements).toHaveLength(5);
  const plans = await Promise.all(
    statements.map(async ({ sql, params, each }): Promise<{ detail: string }[]> => {
      return backlog.database.query(`EXPLAIN QUERY PLAN ${sql}`, [...(each?.[0] ?? params)]);
    }),
  );
  const [search = [], ...others] = plans.map((plan) => plan.map(({ detail }) => detail));
  const steps = [search, ...others].flat();
  expect(steps.filter((step) => /SCAN (messaging|r\b)/.test(step))).toEqual([]);
  // The search sorts only the accounts that it has found.
  expect(others.flat().filter((step) => step.includes('TEMP B-TREE'))).toEqual([]);
  const searches = steps.filter((step) => step.includes('messaging_recipient_queue'));
  expect(new Set(searches)).toEqual(
    new Set([
      'SEARCH r USING COVERING INDEX messaging_recipient_queue (channel=? AND status=? AND priority=? AND queue>? AND queue<?)',
      'SEARCH r USING COVERING INDEX messaging_recipient_queue (channel=? AND status=? AND priority=? AND queue=? AND due_at<?)',
      'SEARCH r USING COVERING INDEX messaging_recipient_queue (channel=? AND status=? AND priority=? AND queue=? AND due_at>? AND due_at<?)',
      'SEARCH r USING INDEX messaging_recipient_queue (channel=? AND status=? AND priority=? AND queue=? AND due_at>? AND due_at<?)',
    ]),
  );
});
