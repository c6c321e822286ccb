import { TypeormStorage } from '../storage/typeorm/typeorm-storage.js';

/**
 * A storage for tests: `TypeormStorage` on an SQLite database of its own in memory, so a test meets the SQL that the service
 * runs. It needs the peer dependency `better-sqlite3`. What it holds is gone after `stop`; two of them share nothing.
 *
 * @throws MessagingOptionsError by `start`, with what to install, where `better-sqlite3` is missing
 * @example
 * MessagingModule.forRoot({ ...options, storage: MemoryStorage })
 */
export class MemoryStorage extends TypeormStorage {
  constructor() {
    super({ database: 'sqlite::memory:' });
  }
}
