import { describe } from '@jest/globals';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { dumpOf, erasureSuite } from '../../support/outbox/erasure-suite.js';

describe('erasing a number on SQLite', () => {
  erasureSuite(async () => {
    const storage = new SqliteMemory();
    return {
      storage,
      dump: () =>
        dumpOf(storage.dataSource, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'messaging%'"),
      close: () => storage.close(),
    };
  });
});
