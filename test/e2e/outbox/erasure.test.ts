import { describe } from '@jest/globals';
import { dumpOf, erasureSuite } from '../../support/erasure-suite.js';
import { SqliteMemory } from '../../support/sqlite-memory.js';

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
