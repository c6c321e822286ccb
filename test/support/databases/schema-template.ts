import { writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';

declare global {
  /**
   * The bytes of a database with our schema and nothing else. Each worker has its own, because each test file loads
   * this module anew.
   */
  var schemaTemplate: Buffer | undefined;
}

/** Makes the template, unless an earlier test file has. */
export async function prepareSchema(): Promise<void> {
  if (globalThis.schemaTemplate) return;
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  const storage = new TypeormStorage({ database: dataSource });
  await storage.start();
  globalThis.schemaTemplate = connectionOf(dataSource).serialize();
  await storage.stop();
  await dataSource.destroy();
}

/**
 * What TypeORM makes a database from: one in memory begins as the template. Reading it takes a fraction of the time
 * that the schema's statements take.
 */
export function DatabaseWithSchema(path: string, options: Database.Options): Database.Database {
  return new Database((path === ':memory:' && globalThis.schemaTemplate) || path, options);
}

/** A new SQLite file that is such a database. */
export async function writeSchema(path: string): Promise<void> {
  await prepareSchema();
  writeFileSync(path, globalThis.schemaTemplate ?? '');
}

/** The connection of a DataSource on SQLite. */
export function connectionOf({ driver }: DataSource): Database.Database {
  return Reflect.get(driver, 'databaseConnection') as Database.Database;
}
