import { Database } from '../../../src/storage/engine/database.js';
import { SqliteDialect } from '../../../src/storage/sqlite/sqlite-dialect.js';

/** For doubles of stores that override everything a test calls: nothing reaches a database, and any attempt fails. */
export class NoDatabase extends Database {
  override readonly dialect = new SqliteDialect();

  override write(): never {
    throw new Error('This double has no database.');
  }

  override writeLazily(): never {
    return this.write();
  }

  override read(): never {
    return this.write();
  }

  override whenCommitted(): never {
    return this.write();
  }

  override async stop(): Promise<void> {}
}
