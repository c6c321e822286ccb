import { expect, test } from '@jest/globals';
import { DataSource } from 'typeorm';
import { LedgerStore } from '../../../../src/billing/ledger-store.js';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import type { Database, Work } from '../../../../src/storage/engine/database.js';
import { fillAccounts, readsOf } from '../../../support/accounts/account-reads.js';
import { closeAfterEach } from '../../../support/common/opened.js';

const opened = closeAfterEach();

test('on SQLite the screens of an account are read by indexes', async () => {
  const source = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
  const storage = new TypeormStorage({ database: source });
  await storage.start();
  opened({
    close: async () => {
      await storage.stop();
      await source.destroy();
    },
  });
  await fillAccounts(storage, source);
  expect(storage.store(LedgerStore)).toBeInstanceOf(LedgerStore);
  const db: Database = Reflect.get(storage.store(LedgerStore), 'database');
  const statements: { sql: string; params: readonly unknown[] }[] = [];
  const { read } = db;
  db.read = <T>(work: Work<T>) =>
    read.call(db, function* () {
      const operation = work();
      for (let step = operation.next(); ; ) {
        if (step.done) return step.value as never;
        const { sql, params } = db.dialect.native(step.value);
        statements.push({ sql, params });
        step = operation.next(yield step.value);
      }
    }) as Promise<T>;
  for (const [name, work] of Object.entries(readsOf(storage))) {
    statements.length = 0;
    await work();
    expect(statements.length).toBeGreaterThan(0);
    for (const { sql, params } of statements) {
      const plan: { detail: string }[] = await source.query(`EXPLAIN QUERY PLAN ${sql}`, [...params]);
      const steps = plan.map(({ detail }) => detail);
      // Full reads are a page, a list of parameters, or the one row of a seek.
      const whole = sql.includes(') u') ? /SCAN (l|m|r)\b|SCAN messaging/ : /SCAN (l|m|r|u)\b|SCAN messaging/;
      expect([name, sql, steps.filter((step) => whole.test(step))]).toEqual([name, sql, []]);
      if (/kind = '(topup|refund)'/.test(sql)) expect(steps.join()).toContain('messaging_ledger_kind');
    }
  }
});
