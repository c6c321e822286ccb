import { copyFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import BetterSqlite3 from 'better-sqlite3';
import type { Database } from '../../../../src/storage/engine/database.js';
import { databaseFor } from '../../../../src/storage/engine/database-for.js';
import type { Operation } from '../../../../src/storage/engine/operation.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { settled } from '../../../support/common/settled.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';

const opened = closeAfterEach();

describe('background work on SQLite', () => {
  let file: SqliteFile;
  let db: Database;
  let clock: FakeClock;
  let other: BetterSqlite3.Database;
  let log: string[];

  beforeEach(async () => {
    file = opened(new SqliteFile());
    clock = new FakeClock();
    const dataSource = await file.dataSource();
    await dataSource.query('CREATE TABLE done (name TEXT)');
    db = await databaseFor(dataSource, clock);
    other = file.handle();
    log = [];
  });

  /** Writes its name, and logs which names are committed at that moment. */
  const work = (name: string) =>
    function* (): Operation<void> {
      const committed = other.prepare('SELECT name FROM done ORDER BY rowid').pluck().all();
      log.push(`${name} after ${committed.join(' ')}`.trim());
      yield { sql: 'INSERT INTO done VALUES (?)', params: [name] };
    };

  test('runs after all other work, each piece in a transaction of its own', async () => {
    await Promise.all([db.writeAside(work('a')), db.writeAside(work('b')), db.write(work('1')), db.write(work('2'))]);
    expect(log).toEqual(['1 after', '2 after', 'a after 1 2', 'b after 1 2 a']);
  });

  test('lets work go first that arrives while it waits, but not forever', async () => {
    const aside = db.writeAside(work('a'));
    const writes: Promise<void>[] = [];
    const busy = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) {
        writes.push(db.write(work(`${writes.length}`)));
        await new Promise(setImmediate);
      }
    };
    await busy(20);
    expect(log.some((line) => line.startsWith('a'))).toBe(false);
    clock.advance(1000);
    await busy(3);
    expect(log.some((line) => line.startsWith('a'))).toBe(true);
    await Promise.all([aside, ...writes]);
  });

  test('that fails is rolled back, and the next piece runs', async () => {
    const failing = db.writeAside(function* (): Operation<void> {
      yield { sql: "INSERT INTO done VALUES ('x')", params: [] };
      throw new Error('no');
    });
    const next = db.writeAside(work('b'));
    await expect(failing).rejects.toThrow();
    await next;
    expect(log).toEqual(['b after']);
  });

  test('waits with other work for another process, and moves its pages out of the WAL', async () => {
    const stored = () => {
      const copy = `${file.path}.copy`;
      copyFileSync(file.path, copy);
      const handle = new BetterSqlite3(copy);
      try {
        return handle.prepare('SELECT name FROM done').pluck().all();
      } finally {
        handle.close();
      }
    };
    other.pragma('wal_checkpoint(TRUNCATE)');
    await db.write(work('1'));
    const before = stored();
    other.exec('BEGIN IMMEDIATE');
    const aside = db.writeAside(work('a'));
    await settled();
    expect(log).toEqual(['1 after']);
    other.exec('ROLLBACK');
    for (let turn = 0; turn < 20; turn++) {
      clock.advance(1);
      await settled();
    }
    await aside;
    expect(before).toEqual([]);
    expect(stored()).toEqual(['1', 'a']);
  });
});
