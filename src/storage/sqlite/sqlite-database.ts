import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database as SqliteConnection } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '../../common/clock.js';
import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import { Database, type Work } from '../engine/database.js';
import { asStorageFault } from '../engine/faults.js';
import { openRunner } from '../engine/host-transaction.js';
import { HostWork } from '../engine/host-work.js';
import { drive, driveSync, type Operation, type StatementResult } from '../engine/operation.js';
import { TransactionWatch } from '../engine/transaction-watch.js';
import { SqliteDialect } from './sqlite-dialect.js';
import { SqliteHandle, type SqliteTask } from './sqlite-handle.js';

/** A task in the queue; `since` is a time of the clock's `elapsed`. */
interface Queued extends SqliteTask {
  readonly since: number;
  /** Whether it runs alone, after all other work. */
  readonly aside: boolean;
  /** The statements of the task, if the event loop runs after each of them. In this case `run` is not called. */
  readonly inTurns?: () => Operation<void>;
}

/** How a task runs. */
interface Kind extends Pick<SqliteTask, 'writes' | 'durable'> {
  /** Default false. */
  readonly aside?: boolean;
  /** Whether the event loop runs after each of its statements. Default false. */
  readonly inTurns?: boolean;
}

/**
 * How long work that runs aside lets other work go first, in milliseconds. After this time it runs even on a database
 * that is never idle.
 */
const ASIDE_MS = 1000;

/**
 * How long work waits for another transaction before it is refused, in milliseconds. The next constant is the time
 * between two attempts.
 */
const LOCK_TIMEOUT_MS = 5000;
const RETRY_MS = 1;

/**
 * A transaction of at least `LONG_MS` is long. After it, our writes pause before each attempt for a tenth of its
 * length, at most `MAX_PAUSE_MS`, until a transaction is short again. Other processes try every millisecond, so they
 * find the file free during the pause.
 */
const LONG_MS = 100;
const MAX_PAUSE_MS = 50;

/** The longest delay of a Node timer, for a timer that only keeps the process alive. */
const MAX_MS = 2 ** 31 - 1;

const NO_RESULT = Symbol('no result');

const HELD = 'another process holds the database';

/**
 * An SQLite database through better-sqlite3. TypeORM has one connection, in which the transactions of two callers would
 * nest and be rolled back together. So this database runs all waiting work on the raw handle in one tick, as one
 * transaction with a savepoint for each task, and never while a transaction of the host is open. The work runs as soon
 * as the host's transaction ends, before its caller continues. So even a host that opens one transaction after another
 * cannot block it for ever.
 *
 * The exception is `writeInTurns` on a file that only we use. Its transaction takes many turns of the event loop. Until
 * it has ended, nothing else runs on its connection, and reads run on a second connection.
 */
export class SqliteDatabase extends Database {
  private readonly handle: SqliteHandle;
  private readonly hostWork: HostWork;
  private readonly watch: TransactionWatch;
  private queue: Queued[] = [];
  /** The task whose transaction of several turns is open. */
  private inTurns: Queued | undefined;
  /** The second connection; undefined until it is needed. */
  private reader: SqliteHandle | undefined;
  private scheduled = false;
  /**
   * The pause of writes before each attempt. The next field is the end of the current pause by the clock's `elapsed`.
   */
  private pauseMs = 0;
  private pausedUntil = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private idle: () => void = () => undefined;
  private cancelRetry: () => void = () => undefined;
  private keptAlive: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    connection: SqliteConnection,
    private readonly clock: Clock = new SystemClock(),
    /**
     * Opens a second connection for reads. It is missing if the first connection is shared with a host, or if the
     * database has no file.
     */
    private readonly openReader?: () => SqliteConnection,
    override readonly dialect: Dialect = new SqliteDialect(),
  ) {
    super();
    this.handle = new SqliteHandle(connection);
    this.hostWork = new HostWork(dataSource, this.dialect);
    this.watch = new TransactionWatch(dataSource, () => this.runWaiting());
  }

  override get waitingWork(): number {
    return this.queue.length;
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.enqueue(work, { writes: true, durable: true });
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.enqueue(work, { writes: true, durable: false });
  }

  override writeAside<T>(work: Work<T>): Promise<T> {
    return this.enqueue(work, { writes: true, durable: false, aside: true });
  }

  override writeInTurns<T>(work: Work<T>): Promise<T> {
    const canRead = this.openReader !== undefined && this.handle.inWal;
    return this.enqueue(work, { writes: true, durable: true, inTurns: canRead });
  }

  override read<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.read(host, work) : this.enqueue(work, { writes: false, durable: false });
  }

  override whenCommitted(host: HostTransaction, task: () => void): void {
    this.watch.whenCommitted(openRunner(host, this.dataSource), task);
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    if (this.queue.length > 0 || this.inTurns) await new Promise<void>((resolve) => (this.idle = resolve));
    this.watch.stop();
    this.reader?.close();
  }

  private enqueue<T>(work: Work<T>, { writes, durable, aside = false, inTurns = false }: Kind): Promise<T> {
    if (this.stopped) return Promise.reject(new StorageUnavailableError('The storage is stopped.'));
    return new Promise<T>((resolve, reject) => {
      let result: T | typeof NO_RESULT = NO_RESULT;
      this.queue.push({
        writes,
        durable,
        since: this.clock.elapsed(),
        aside,
        run: () => {
          const handle = (this.inTurns && this.reader) ?? this.handle;
          result = driveSync(work(), (statement) => handle.execute(statement));
        },
        ...(inTurns && {
          inTurns: function* () {
            result = yield* work();
          },
        }),
        done: () => (result === NO_RESULT ? reject(new Error('The operation gave no result.')) : resolve(result)),
        fail: (error) => reject(asStorageFault(error)),
      });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** Called when a transaction has ended, before its caller continues. */
  private runWaiting(): void {
    if (this.queue.length > 0 && !this.handle.inTransaction) this.flush();
  }

  private flush(): void {
    this.stopRetrying();
    if (!this.dataSource.isInitialized) this.reject(new StorageUnavailableError('The database is closed.'));
    const obstacle = this.queue.length > 0 ? this.perform() : '';
    if (obstacle !== '') this.retryLater(obstacle);
    else if (this.queue.some(({ writes }) => !writes || !this.inTurns)) this.schedule();
    if (this.queue.length === 0 && !this.inTurns) this.idle();
  }

  /**
   * Runs the waiting tasks. Returns the reason why the remaining ones could not run; '' if they only wait for their
   * turn.
   */
  private perform(): string {
    if (this.inTurns) return this.performReads();
    if (this.handle.inTransaction)
      return 'a transaction of the host is open; pass { host: { manager } } to be part of it';
    const isPaused = this.clock.elapsed() < this.pausedUntil;
    const turn = this.turn();
    const later = turn.filter(({ writes }) => isPaused && writes);
    const tasks = isPaused ? turn.filter(({ writes }) => !writes) : turn;
    const others = this.queue.filter((task) => !turn.includes(task));
    this.queue = [];
    const held = new Set(this.attempt(tasks));
    const left = [...later, ...tasks.filter((task) => held.has(task))];
    if (held.size === 0 && tasks.some(({ aside }) => aside)) this.handle.checkpoint();
    this.queue = [...left, ...others, ...this.queue];
    const canBegin = isPaused ? !this.queue.some(({ inTurns }) => inTurns) : this.beginInTurns();
    return left.length > 0 || !canBegin ? HELD : '';
  }

  /** Runs the waiting reads during a transaction of several turns. Returns the same as `perform`. */
  private performReads(): string {
    const reads = this.queue.filter(({ writes }) => !writes);
    this.queue = this.queue.filter(({ writes }) => writes);
    const held: readonly SqliteTask[] = this.reader?.perform(reads) ?? reads;
    this.queue = [...reads.filter((task) => held.includes(task)), ...this.queue];
    return held.length > 0 ? HELD : '';
  }

  /** Begins the first waiting task of several turns. Returns false if another process has locked the database. */
  private beginInTurns(): boolean {
    const task = this.queue.find(({ inTurns }) => inTurns !== undefined);
    if (task?.inTurns === undefined) return true;
    try {
      this.reader ??= this.openReader && new SqliteHandle(this.openReader());
      if (!this.handle.begin()) return false;
    } catch (error) {
      this.reject(error, (each) => each === task);
      return true;
    }
    this.queue = this.queue.filter((each) => each !== task);
    this.inTurns = task;
    void this.runInTurns(task, task.inTurns());
    return true;
  }

  /** Runs a task in the transaction that was begun for it, and then all waiting tasks. Never rejects. */
  private async runInTurns(task: Queued, operation: Operation<void>): Promise<void> {
    const began = this.clock.elapsed();
    try {
      await drive(operation, async (statement): Promise<StatementResult> => {
        const result = this.handle.execute(statement);
        await nextTurn();
        return result;
      });
      this.handle.commit();
      task.done();
    } catch (error) {
      this.handle.rollBack();
      task.fail(error);
    }
    this.inTurns = undefined;
    this.checkpointLater();
    this.restAfter(began);
    // The tasks behind it have waited for our own transaction instead of another process, so they are not refused for
    // that wait.
    const since = this.clock.elapsed();
    this.queue = this.queue.map((each) => ({ ...each, since }));
    this.schedule();
  }

  /**
   * Moves the pages of a large transaction out of the WAL, after the waiting writes. Otherwise one of these writes
   * would have to do it, which takes as long.
   */
  private checkpointLater(): void {
    const nothing = function* (): Operation<void> {};
    this.enqueue(nothing, { writes: true, durable: false, aside: true })
      .catch(() => undefined)
      .finally(() => this.handle.resumeCheckpoints());
  }

  /** Returns the waiting tasks that run now: all except those that run aside, or one of these. */
  private turn(): readonly Queued[] {
    const atOnce = this.queue.filter(({ inTurns }) => inTurns === undefined);
    const aside = atOnce.find((task) => task.aside);
    if (aside === undefined) return atOnce;
    const others = atOnce.filter((task) => !task.aside);
    return others.length === 0 || this.clock.elapsed() - aside.since >= ASIDE_MS ? [aside] : others;
  }

  /**
   * Runs tasks. After a long transaction it pauses writes, so that other processes can write. Returns the tasks to try
   * again.
   */
  private attempt(tasks: readonly Queued[]): readonly SqliteTask[] {
    const began = this.clock.elapsed();
    const held = this.handle.perform(tasks);
    const writes = tasks.filter((task) => task.writes);
    if (writes.length === 0) return held;
    if (writes.some((task) => held.includes(task))) this.pausedUntil = this.clock.elapsed() + this.pauseMs;
    else this.restAfter(began);
    return held;
  }

  /** Pauses writes after a long transaction. */
  private restAfter(began: number): void {
    const now = this.clock.elapsed();
    this.pauseMs = now - began < LONG_MS ? 0 : Math.min((now - began) / 10, MAX_PAUSE_MS);
    this.pausedUntil = now + this.pauseMs;
  }

  /** Tries again later without blocking the event loop. Refuses tasks that have waited for too long. */
  private retryLater(obstacle: string): void {
    const oldest = this.clock.elapsed() - LOCK_TIMEOUT_MS;
    const error = new StorageUnavailableError(`The SQLite database is busy: ${obstacle}.`);
    this.reject(error, ({ since }) => since <= oldest);
    if (this.queue.length === 0) return;
    this.cancelRetry = this.clock.after(RETRY_MS, () => this.flush());
    // The clock's timers do not keep the process alive. But a process with waiting work must not end, for example a
    // command of an operator.
    this.keptAlive = setInterval(() => undefined, MAX_MS);
  }

  private stopRetrying(): void {
    this.cancelRetry();
    clearInterval(this.keptAlive);
  }

  private reject(error: unknown, which: (task: Queued) => boolean = () => true): void {
    const tasks = this.queue;
    this.queue = tasks.filter((task) => !which(task));
    for (const task of tasks) if (which(task)) task.fail(error);
  }
}
