import { TypeormStorage } from '../messaging/typeorm-storage.js';

/**
 * A storage for tests: `TypeormStorage` on a new SQLite database in memory, so that tests run the same SQL as the service. It
 * needs the peer dependency `better-sqlite3`. `stop` deletes the data; instances share nothing. Without `better-sqlite3`,
 * `start` throws a `MessagingOptionsError` that names the package to install.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ ...options, storage: MemoryStorage })
 * ```
 */
export class MemoryStorage extends TypeormStorage {
  constructor() {
    super({ database: 'sqlite::memory:' });
  }
}
