import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { DAY_MS, HOUR_MS } from '../../../../src/common/time.js';
import { UsageStore } from '../../../../src/management/usage/usage-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import { write } from '../../../../src/storage/engine/operation.js';
import { ACCOUNT, START } from '../../../contract/storage/fixtures.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { WatchedDatabase } from '../../../support/databases/watched-database.js';

const opened = closeAfterEach();

test('on SQLite the recent hours are compared with the ledger hour by hour', async () => {
  const database = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  opened({ close: () => database.destroy() });
  await new TypeormStorage({ database }).start();
  const db = new WatchedDatabase(await databaseFor(database));
  const sql = 'INSERT INTO messaging_usage_account (account_id, done_until, claimed_until) VALUES (?, ?, 0)';
  const done = START - (START % HOUR_MS);
  await db.write(() => write(sql, ACCOUNT, done));
  const period = { since: done - DAY_MS, until: done + HOUR_MS, groupBy: [], now: START } as const;
  await new UsageStore(db).usage({ accountId: ACCOUNT, ...period });
  const ranges = db.readStatements.flatMap(({ sql, params }) =>
    sql.includes('count(*) AS entries') ? [Number(params[2]) - Number(params[1])] : [],
  );
  expect(ranges).toEqual(Array(6).fill(HOUR_MS));
});
