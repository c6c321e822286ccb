import type { Database, Statement as Prepared } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '../../common/clock.js';
import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../outbox/outbox-store.js';
import { SqliteDialect } from './dialects/sqlite-dialect.js';
import { Executor, type Work } from './executor.js';
import { asStorageFault, codeOf, driveOn, openRunner } from './host-transaction.js';
import { driveSync, type Row, type Statement, type StatementResult } from './operation.js';

interface Task {
  readonly writes: boolean;
  readonly run: () => void;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
  failed: unknown;
}

/** How long work waits for somebody else's transaction before it gives up, and how often it looks. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 1;

const NOTHING = Symbol('nothing');

/**
 * SQLite through better-sqlite3. TypeORM has one connection for everybody, where the transactions of two callers would
 * nest in one another and be lost together. So all our work runs here: whatever is waiting goes through the raw handle in
 * one tick, as one transaction with a savepoint for each piece, and never while a transaction of the host's is open.
 */
export class SqliteExecutor extends Executor {
  override readonly dialect = new SqliteDialect();
  private waiting: Task[] = [];
  private scheduled = false;
  private blockedSince: number | undefined;
  private stopped = false;
  private idle: () => void = () => undefined;
  private readonly prepared = new Map<string, Prepared>();

  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.enqueue(work, true);
  }

  override read<T>(work: Work<T>): Promise<T> {
    return this.enqueue(work, false);
  }

  override async join<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return driveOn(openRunner(host), this.dialect, work());
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    if (this.waiting.length > 0) await new Promise<void>((resolve) => (this.idle = resolve));
  }

  private enqueue<T>(work: Work<T>, writes: boolean): Promise<T> {
    if (this.stopped) return Promise.reject(new StorageUnavailableError('The storage is stopped.'));
    return new Promise<T>((resolve, reject) => {
      let result: T | typeof NOTHING = NOTHING;
      this.waiting.push({
        writes,
        failed: NOTHING,
        run: () => {
          result = driveSync(work(), (statement) => this.execute(statement));
        },
        done: () => (result === NOTHING ? reject(new Error('The operation gave no result.')) : resolve(result)),
        fail: (error) => reject(asStorageFault(error)),
      });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.scheduled = false;
    const obstacle = this.begin();
    if (obstacle !== undefined) {
      this.waitFor(obstacle);
      return;
    }
    this.blockedSince = undefined;
    const tasks = this.waiting;
    this.waiting = [];
    this.perform(tasks);
    if (this.waiting.length === 0) this.idle();
  }

  /** Opens our transaction if anything is to be written; answers what stands in the way, if it will pass. */
  private begin(): string | undefined {
    try {
      if (!this.dataSource.isInitialized) throw new StorageUnavailableError('The database is closed.');
      if (this.database.inTransaction) return 'a transaction of the host is open; pass { manager } to be part of it';
      if (this.waiting.some(({ writes }) => writes)) this.execute({ sql: 'BEGIN IMMEDIATE', params: [] });
    } catch (error) {
      if (codeOf(error)?.startsWith('SQLITE_BUSY')) return 'another process holds the database';
      this.rejectAll(error);
    }
    return undefined;
  }

  /** Everything between BEGIN and COMMIT, without a pause. Reads come after it: they see what is committed. */
  private perform(tasks: readonly Task[]): void {
    const writers = tasks.filter(({ writes }) => writes);
    if (writers.length > 0) {
      try {
        for (const task of writers) this.attempt(task, writers.length > 1);
        this.execute({ sql: 'COMMIT', params: [] });
      } catch (error) {
        this.rollBack();
        for (const task of writers) task.fail(task.failed === NOTHING ? error : task.failed);
        writers.length = 0;
      }
    }
    for (const task of writers) this.finish(task);
    for (const task of tasks) {
      if (task.writes) continue;
      this.attempt(task, false, true);
      this.finish(task);
    }
  }

  private attempt(task: Task, savepoint: boolean, contained = savepoint): void {
    if (savepoint) this.execute({ sql: 'SAVEPOINT messaging_task', params: [] });
    try {
      task.run();
      if (savepoint) this.execute({ sql: 'RELEASE messaging_task', params: [] });
    } catch (error) {
      task.failed = error;
      // SQLite may end the whole transaction by itself, for instance on a full disk: then nothing of it stands.
      if (!contained || (savepoint && !this.database.inTransaction)) throw error;
      if (savepoint) {
        this.execute({ sql: 'ROLLBACK TO messaging_task', params: [] });
        this.execute({ sql: 'RELEASE messaging_task', params: [] });
      }
    }
  }

  private finish(task: Task): void {
    if (task.failed === NOTHING) task.done();
    else task.fail(task.failed);
  }

  private rollBack(): void {
    if (!this.database.inTransaction) return;
    try {
      this.execute({ sql: 'ROLLBACK', params: [] });
    } catch {
      // Nothing is left to undo it with; the next BEGIN tells.
    }
  }

  private waitFor(obstacle: string): void {
    const now = this.clock.now();
    this.blockedSince ??= now;
    if (now - this.blockedSince < PATIENCE_MS) {
      this.scheduled = true;
      setTimeout(() => this.flush(), LOOK_AGAIN_MS);
      return;
    }
    this.blockedSince = undefined;
    this.rejectAll(new StorageUnavailableError(`The SQLite database is busy: ${obstacle}.`));
  }

  private rejectAll(error: unknown): void {
    const tasks = this.waiting;
    this.waiting = [];
    for (const task of tasks) task.fail(error);
    this.idle();
  }

  private execute({ sql, params }: Statement): StatementResult {
    let statement = this.prepared.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      if (this.prepared.size < 500) this.prepared.set(sql, statement);
    }
    if (statement.reader) return { rows: [...(statement.all(params) as Row[])], affected: 0 };
    return { rows: [], affected: statement.run(params).changes };
  }
}
