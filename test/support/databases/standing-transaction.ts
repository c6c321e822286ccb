import { expect } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { asStorageFault } from '../../../src/storage/engine/faults.js';
import { rowsOf } from '../../../src/storage/engine/operation.js';

/**
 * A transaction of ours that holds an account's row and stands still, as in a frozen process. Asserts that the next
 * transaction still gets the row.
 */
export async function expectStandingTransactionEnds(dataSource: DataSource, accountId: string): Promise<void> {
  const db = await databaseFor(dataSource, undefined, true);
  const { dialect } = db;
  const lock = {
    sql: dialect.lockByIds('messaging_account', 'a.id', 'wait'),
    params: [JSON.stringify([accountId])],
  };
  const runner = dataSource.createQueryRunner();
  const standing = dialect.connection(runner, await runner.connect());
  try {
    await standing.begin(true);
    expect((await standing.run(lock)).rows).toHaveLength(1);
    const next = await db.write(function* () {
      for (const sql of dialect.lockTimeout) yield { sql, params: [] };
      return yield* rowsOf(lock.sql, ...lock.params);
    });
    expect(next).toHaveLength(1);
    const fault = await standing.run(lock).catch(asStorageFault);
    expect(fault).toBeInstanceOf(StorageUnavailableError);
  } finally {
    standing.discard();
    await runner.release().catch(() => undefined);
    await db.stop();
  }
}
