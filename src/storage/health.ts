import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database } from './engine/database.js';
import { rowsOf } from './engine/operation.js';
import { textOf } from './engine/rows.js';
import type { StorageHealth } from './messaging-storage.js';
import { riskySettings } from './risky-settings.js';
import { lackingVersions } from './schema/migrate.js';
import type { SchemaGroup } from './schema/versions.js';

/** @throws StorageUnavailableError if the database does not answer */
export async function healthOf(database: Database, groups: readonly SchemaGroup[]): Promise<StorageHealth> {
  const lacks = await database.read(() => lackingVersions(groups));
  const warnings = await database.read(() => riskySettings(database.dialect.driver));
  if (database.dialect.driver !== 'better-sqlite3') return { lacks, warnings };
  const [main] = await database.read(() => rowsOf('PRAGMA database_list'));
  const file = main && textOf(main, 'file');
  // A database in memory has no file.
  if (!file) return { lacks };
  const { bavail, bsize } = await statfs(dirname(file));
  return { lacks, disk: { freeBytes: bavail * bsize } };
}
