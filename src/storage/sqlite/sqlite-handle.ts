import type { Statement as Prepared, Database as SqliteConnection } from 'better-sqlite3';
import { codeOf } from '../engine/blame.js';
import type { Row, Statement, StatementResult } from '../engine/operation.js';

/** A task on the handle, with the callbacks of its caller. */
export interface SqliteTask {
  readonly writes: boolean;
  /** Whether its commit must be on disk before `done` is called; see `Database.writeLazily`. */
  readonly durable: boolean;
  readonly run: () => void;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Runs tasks on a better-sqlite3 handle, which the host may use too. Tasks run synchronously. They do not wait for the
 * lock of another process, because SQLite would block the event loop.
 */
export class SqliteHandle {
  private readonly prepared = new Map<string, Prepared>();
  private readonly busyTimeout: number;
  private readonly synchronous: number;
  private readonly autocheckpoint: number;
  /** Whether the database is in WAL mode, in which other connections read while a transaction writes. */
  readonly inWal: boolean;

  constructor(private readonly connection: SqliteConnection) {
    this.busyTimeout = Number(connection.pragma('busy_timeout', { simple: true }));
    this.synchronous = Number(connection.pragma('synchronous', { simple: true }));
    this.autocheckpoint = Number(connection.pragma('wal_autocheckpoint', { simple: true }));
    this.inWal = connection.pragma('journal_mode', { simple: true }) === 'wal';
  }

  /** Whether a transaction is open on the handle. */
  get inTransaction(): boolean {
    return this.connection.inTransaction;
  }

  /**
   * Runs all writing tasks as one transaction with a savepoint for each, and then the reading tasks, which see
   * committed rows. If another process has locked the database, it returns the tasks to try again. These have changed
   * nothing.
   */
  perform(tasks: readonly SqliteTask[]): SqliteTask[] {
    if (this.busyTimeout > 0) this.connection.pragma('busy_timeout = 0');
    try {
      const held = this.performWrites(tasks.filter(({ writes }) => writes));
      return [...held, ...tasks.filter((task) => !task.writes && !this.performRead(task))];
    } finally {
      if (this.busyTimeout > 0) this.connection.pragma(`busy_timeout = ${this.busyTimeout}`);
    }
  }

  /**
   * Moves committed pages from the WAL to the database, as far as open readers allow it. Call it after each large piece
   * of work. Otherwise SQLite would move 1000 pages at once in a later commit.
   */
  checkpoint(): void {
    if (this.inWal) this.connection.pragma('wal_checkpoint(PASSIVE)');
  }

  /** Begins a transaction of several turns. Returns false if another process has locked the database. */
  begin(): boolean {
    try {
      this.run('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  /**
   * Commits a transaction of several turns. After it, commits make no checkpoints until `resumeCheckpoints` is called.
   */
  commit(): void {
    this.connection.pragma('wal_autocheckpoint = 0');
    this.run('COMMIT');
  }

  /** Lets commits make checkpoints again. */
  resumeCheckpoints(): void {
    if (this.connection.open) this.connection.pragma(`wal_autocheckpoint = ${this.autocheckpoint}`);
  }

  close(): void {
    this.connection.close();
  }

  execute({ sql, params, each }: Statement): StatementResult {
    let statement = this.prepared.get(sql);
    if (!statement) {
      statement = this.connection.prepare(sql);
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
    // In WAL mode, a commit with NORMAL does not sync, and the next commit with FULL syncs it too. In other modes
    // NORMAL is less safe.
    const lazily = this.inWal && this.synchronous > 1 && !tasks.some(({ durable }) => durable);
    try {
      if (lazily) this.connection.pragma('synchronous = NORMAL');
      this.run('BEGIN IMMEDIATE');
      for (const task of tasks) this.attempt(task, tasks.length > 1, failed);
      this.run('COMMIT');
    } catch (error) {
      this.rollBack();
      if (isBusy(error)) return tasks;
      for (const task of tasks) task.fail(failed.has(task) ? failed.get(task) : error);
      return [];
    } finally {
      if (lazily) this.connection.pragma(`synchronous = ${this.synchronous}`);
    }
    for (const task of tasks) {
      if (failed.has(task)) task.fail(failed.get(task));
      else task.done();
    }
    return [];
  }

  /**
   * Runs a task in a savepoint. If the task fails, only the task is rolled back, unless SQLite has ended the whole
   * transaction.
   */
  private attempt(task: SqliteTask, savepoint: boolean, failed: Map<SqliteTask, unknown>): void {
    if (savepoint) this.run('SAVEPOINT messaging_task');
    try {
      task.run();
    } catch (error) {
      failed.set(task, error);
      // On a full disk, for example, SQLite may have rolled back the whole transaction.
      if (!savepoint || !this.inTransaction) throw error;
      this.run('ROLLBACK TO messaging_task');
    }
    if (savepoint) this.run('RELEASE messaging_task');
  }

  /** Runs a read. Returns false if another process has locked the database against readers too. */
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

  rollBack(): void {
    if (!this.inTransaction) return;
    try {
      this.run('ROLLBACK');
    } catch {
      // The error is ignored. If the transaction is still open, the next BEGIN fails.
    }
  }

  private run(sql: string): void {
    this.execute({ sql, params: [] });
  }
}

function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') === true;
}
