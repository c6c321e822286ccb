import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { DAY_MS, HOUR_MS } from '../../../src/common/time.js';
import { TypeormUsageStore } from '../../../src/management/usage/usage-sql.js';
import type { Work } from '../../../src/storage/engine/executor.js';
import { executorFor } from '../../../src/storage/engine/executor-for.js';
import type { Operation } from '../../../src/storage/engine/operation.js';
import { write } from '../../../src/storage/engine/operation.js';
import { TypeormStorage } from '../../../src/storage/typeorm-storage.js';
import { ACCOUNT, START } from '../../../src/testing/storage-contract/fixtures.js';
import { closeAfterEach } from '../../support/opened.js';
import { WatchedExecutor } from '../../support/watched-executor.js';

const opened = closeAfterEach();

/** Keeps the ranges of the ledger that single statements add up. */
class RangeExecutor extends WatchedExecutor {
  readonly ranges: number[] = [];

  override read<T>(work: Work<T>): Promise<T> {
    return super.read(() => this.ranged(work()));
  }

  private *ranged<T>(operation: Operation<T>): Operation<T> {
    let step = operation.next();
    while (!step.done) {
      const { sql, params } = step.value;
      if (sql.includes('count(*) AS entries')) this.ranges.push(Number(params[2]) - Number(params[1]));
      step = operation.next(yield step.value);
    }
    return step.value;
  }
}

test('on SQLite the recent hours are compared with the ledger one by one', async () => {
  const database = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => database.destroy() });
  await new TypeormStorage({ database }).start();
  const executor = new RangeExecutor(await executorFor(database));
  const sql = 'INSERT INTO messaging_usage_account (account_id, done_until, claimed_until) VALUES (?, ?, 0)';
  const done = START - (START % HOUR_MS);
  await executor.write(() => write(sql, ACCOUNT, done));
  const period = { since: done - DAY_MS, until: done + HOUR_MS, groupBy: [], now: START } as const;
  await new TypeormUsageStore(executor).usage({ accountId: ACCOUNT, ...period });
  expect(executor.ranges).toEqual(Array(6).fill(HOUR_MS));
});
