import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';

/** An SQLite file for one test, and everything that was opened on it. */
export class SqliteFile {
  private readonly folder = mkdtempSync(join(tmpdir(), 'messaging-'));
  readonly path = join(this.folder, 'messaging.db');
  private readonly sources: DataSource[] = [];
  private readonly handles: Database.Database[] = [];

  /** A storage on a connection of its own, as each process has one. */
  storage(): { readonly useValue: TypeormStorage } {
    return { useValue: new TypeormStorage({ database: `sqlite:${this.path}` }) };
  }

  /** A host's DataSource, with TypeORM's default `timeout` unless one is given. */
  async dataSource(options: { timeout?: number } = {}): Promise<DataSource> {
    const source = new DataSource({
      type: 'better-sqlite3',
      database: this.path,
      enableWAL: true,
      ...options,
      prepareDatabase: (handle: { pragma(text: string): unknown }) => void handle.pragma('synchronous = FULL'),
    });
    this.sources.push(source);
    return source.initialize();
  }

  /** Another connection to the file, which for SQLite is another process. */
  handle(): Database.Database {
    const handle = new Database(this.path);
    this.handles.push(handle);
    return handle;
  }

  async close(): Promise<void> {
    for (const handle of this.handles) handle.close();
    for (const source of this.sources) if (source.isInitialized) await source.destroy();
    rmSync(this.folder, { recursive: true });
  }
}
