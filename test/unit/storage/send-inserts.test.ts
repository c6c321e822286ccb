import { expect, test } from '@jest/globals';
import { PostgresDialect } from '../../../src/storage/typeorm/dialects/postgres-dialect.js';
import { SqliteDialect } from '../../../src/storage/typeorm/dialects/sqlite-dialect.js';
import { LaneTurns } from '../../../src/storage/typeorm/stores/outbox/lane-turns.js';
import { insertSends } from '../../../src/storage/typeorm/stores/outbox/send-inserts.js';
import { aSend } from '../../../src/testing/storage-contract/fixtures.js';

test.each([
  ['PostgreSQL', new PostgresDialect()],
  ['SQLite', new SqliteDialect()],
])('sends without metadata cost no column for it on %s, and one with it gives it to its batch', (_name, dialect) => {
  const insertOf = (...metadata: (Record<string, string> | undefined)[]) => {
    const sends = metadata.map((each, index) => aSend(index, { metadata: each }));
    return insertSends(dialect, sends, new LaneTurns())[0]?.sql;
  };
  expect(insertOf(undefined, undefined)).not.toContain('metadata');
  expect(insertOf(undefined, { order: '4711' })).toContain('metadata');
});
