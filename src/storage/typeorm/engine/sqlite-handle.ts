import type { Database, Statement as Prepared } from 'better-sqlite3';
import { codeOf } from './host-transaction.js';
import type { Row, Statement, StatementResult } from './operation.js';

/** A piece of work on the handle, and who waits for it. */
export interface SqliteTask {
  readonly writes: boolean;
  /** Whether its commit is to be on disk when it is done; see `Executor.writeLazily`. */
  readonly durable: boolean;
  readonly run: () => void;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * A better-sqlite3 handle, which may be the host's too. What runs here runs without a pause and without waiting for
 * another process: SQLite would wait by holding up the event loop.
 */
export class SqliteHandle {
  private readonly prepared = new Map<string, Prepared>();
  private readonly busyTimeout: number;
  private readonly synchronous: number;
  private readonly inWal: boolean;

  constructor(private readonly database: Database) {
    this.busyTimeout = Number(database.pragma('busy_timeout', { simple: true }));
    this.synchronous = Number(database.pragma('synchronous', { simple: true }));
    this.inWal = database.pragma('journal_mode', { simple: true }) === 'wal';
  }

  /** Whether somebody has a transaction open on it. */
  get inTransaction(): boolean {
    return this.database.inTransaction;
  }

  /**
   * Runs all that writes as one transaction with a savepoint for each task, then all that reads: it sees what is committed.
   * Answers what found the database held by another process, to be tried again; of that, nothing has happened.
   */
  perform(tasks: readonly SqliteTask[]): SqliteTask[] {
    if (this.busyTimeout > 0) this.database.pragma('busy_timeout = 0');
    try {
      const held = this.performWrites(tasks.filter(({ writes }) => writes));
      return [...held, ...tasks.filter((task) => !task.writes && !this.performRead(task))];
    } finally {
      if (this.busyTimeout > 0) this.database.pragma(`busy_timeout = ${this.busyTimeout}`);
    }
  }

  execute({ sql, params, each }: Statement): StatementResult {
    let statement = this.prepared.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      if (this.prepared.size < 500) this.prepared.set(sql, statement);
    }
    if (statement.reader) return { rows: [...(statement.all(params) as Row[])], affected: 0 };
    let affected = 0;
    for (const values of each ?? [params]) affected += statement.run(values).changes;
    return { rows: [], affected };
  }

  private performWrites(tasks: readonly SqliteTask[]): readonly SqliteTask[] {
    if (tasks.length === 0) return [];
    const failed = new Map<SqliteTask, unknown>();
    // In WAL mode NORMAL commits without a sync, and the next FULL commit syncs them with it. In others it is less safe.
    const lazily = this.inWal && this.synchronous > 1 && !tasks.some(({ durable }) => durable);
    try {
      if (lazily) this.database.pragma('synchronous = NORMAL');
      this.run('BEGIN IMMEDIATE');
      for (const task of tasks) this.attempt(task, tasks.length > 1, failed);
      this.run('COMMIT');
    } catch (error) {
      this.rollBack();
      if (isBusy(error)) return tasks;
      for (const task of tasks) task.fail(failed.has(task) ? failed.get(task) : error);
      return [];
    } finally {
      if (lazily) this.database.pragma(`synchronous = ${this.synchronous}`);
    }
    for (const task of tasks) {
      if (failed.has(task)) task.fail(failed.get(task));
      else task.done();
    }
    return [];
  }

  /** A task that fails is undone by itself; it takes the others with it only where SQLite itself ends the transaction. */
  private attempt(task: SqliteTask, savepoint: boolean, failed: Map<SqliteTask, unknown>): void {
    if (savepoint) this.run('SAVEPOINT messaging_task');
    try {
      task.run();
    } catch (error) {
      failed.set(task, error);
      // On a full disk, for instance, SQLite may have rolled everything back: then nothing of it stands.
      if (!savepoint || !this.inTransaction) throw error;
      this.run('ROLLBACK TO messaging_task');
    }
    if (savepoint) this.run('RELEASE messaging_task');
  }

  /** False: another process holds the database even against readers. */
  private performRead(task: SqliteTask): boolean {
    try {
      task.run();
      task.done();
    } catch (error) {
      if (isBusy(error)) return false;
      task.fail(error);
    }
    return true;
  }

  private rollBack(): void {
    if (!this.inTransaction) return;
    try {
      this.run('ROLLBACK');
    } catch {
      // Nothing is left to undo it with; the next BEGIN tells.
    }
  }

  private run(sql: string): void {
    this.execute({ sql, params: [] });
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
}
