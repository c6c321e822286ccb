import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { EventLog } from '../../../../src/events/event-log.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';

test('on SQLite a page of events and the previous number are found by an index', async () => {
  const database = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  const storage = new TypeormStorage({ database });
  await storage.start();
  const log = storage.store(EventLog);
  const db = Reflect.get(log, 'database') as Awaited<ReturnType<typeof databaseFor>>;
  const statements: { sql: string; params: readonly unknown[] }[] = [];
  const { read } = db;
  db.read = (work, host) =>
    read.call(
      db,
      function* () {
        const operation = work();
        for (let step = operation.next(); ; ) {
          if (step.done) return step.value as never;
          const { sql, params } = db.dialect.native(step.value);
          statements.push({ sql, params });
          step = operation.next(yield step.value);
        }
      },
      host,
    ) as never;
  const types = ['otp.verified', 'message.read'] as const;
  await log.read({ accountId: 'demo', after: 5, limit: 10 });
  await log.read({ accountId: 'demo', after: 5, limit: 10, types });
  await log.previous('demo', 5, undefined);
  await log.previous('demo', 5, types);
  const onEvents = statements.filter(({ sql }) => /messaging_event\b/.test(sql));
  expect(onEvents).toHaveLength(4);
  for (const { sql, params } of onEvents) {
    const plan: { detail: string }[] = await database.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
    const steps = plan.map(({ detail }) => detail);
    expect([sql, steps.filter((step) => step.includes('SCAN e'))]).toEqual([sql, []]);
    const index = sql.includes('type = ?') ? 'messaging_event_type (account_id=? AND type=?' : '(account_id=?';
    expect([sql, steps.some((step) => step.startsWith('SEARCH') && step.includes(index))]).toEqual([sql, true]);
  }
  await storage.stop();
  await database.destroy();
});
