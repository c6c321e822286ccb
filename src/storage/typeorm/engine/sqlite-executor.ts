import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '../../../common/clock.js';
import { StorageUnavailableError } from '../../../common/errors.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import { SqliteDialect } from '../dialects/sqlite-dialect.js';
import { Executor, type Work } from './executor.js';
import { asStorageFault, openRunner } from './host-transaction.js';
import { HostWork } from './host-work.js';
import { driveSync } from './operation.js';
import { SqliteHandle, type SqliteTask } from './sqlite-handle.js';
import { TransactionWatch } from './transaction-watch.js';

/** A task in the queue; `since` by the clock's `elapsed`. */
interface Queued extends SqliteTask {
  readonly since: number;
}

/** How long work waits for somebody else's transaction before it gives up, and how often it looks. */
const PATIENCE_MS = 5000;
const LOOK_AGAIN_MS = 1;

/**
 * A transaction from this length on is a long one: after it, and for as long as the last one was long, our writes wait for a
 * tenth of that, up to so many milliseconds, before each try. Other processes look every millisecond, and find the file free.
 */
const LONG_MS = 100;
const LONGEST_REST_MS = 50;

/** What keeps the process alive does nothing, as seldom as a timer can. */
const LONGEST_MS = 2 ** 31 - 1;

const NOTHING = Symbol('nothing');

/**
 * SQLite through better-sqlite3. TypeORM has one connection for everybody, where the transactions of two callers would
 * nest in one another and be lost together. So all our work runs here: whatever is waiting goes through the raw handle in
 * one tick, as one transaction with a savepoint for each piece, and never while a transaction of the host's is open. When
 * one of those ends, what waits takes its turn in the same moment: a host that opens the next at once does not starve it.
 */
export class SqliteExecutor extends Executor {
  override readonly dialect = new SqliteDialect();
  private readonly handle: SqliteHandle;
  private readonly hostWork: HostWork;
  private readonly watch: TransactionWatch;
  private waiting: Queued[] = [];
  private scheduled = false;
  /** How long writes wait before each try, and until when they wait now, by the clock's `elapsed`. */
  private restMs = 0;
  private restsUntil = Number.NEGATIVE_INFINITY;
  private stopped = false;
  private idle: () => void = () => undefined;
  private cancelLook: () => void = () => undefined;
  private keptAlive: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    database: Database,
    private readonly clock: Clock = new SystemClock(),
  ) {
    super();
    this.handle = new SqliteHandle(database);
    this.hostWork = new HostWork(dataSource, this.dialect);
    this.watch = new TransactionWatch(dataSource, () => this.takeTurn());
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.enqueue(work, true, true);
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.enqueue(work, true, false);
  }

  override read<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.read(host, work) : this.enqueue(work, false, false);
  }

  override whenCommitted(host: HostTransaction, task: () => void): void {
    this.watch.whenCommitted(openRunner(host, this.dataSource), task);
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    if (this.waiting.length > 0) await new Promise<void>((resolve) => (this.idle = resolve));
    this.watch.stop();
  }

  private enqueue<T>(work: Work<T>, writes: boolean, durable: boolean): Promise<T> {
    if (this.stopped) return Promise.reject(new StorageUnavailableError('The storage is stopped.'));
    return new Promise<T>((resolve, reject) => {
      let result: T | typeof NOTHING = NOTHING;
      this.waiting.push({
        writes,
        durable,
        since: this.clock.elapsed(),
        run: () => {
          result = driveSync(work(), (statement) => this.handle.execute(statement));
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
    setImmediate(() => {
      this.scheduled = false;
      this.flush();
    });
  }

  /** A transaction has just ended; its caller has not gone on yet. */
  private takeTurn(): void {
    if (this.waiting.length > 0 && !this.handle.inTransaction) this.flush();
  }

  private flush(): void {
    this.stopLooking();
    if (!this.dataSource.isInitialized) this.reject(new StorageUnavailableError('The database is closed.'));
    const obstacle = this.waiting.length > 0 ? this.perform() : '';
    if (this.waiting.length > 0) this.lookAgain(obstacle);
    if (this.waiting.length === 0) this.idle();
  }

  /** Runs what waits; answers what stands in the way of the rest. */
  private perform(): string {
    if (this.handle.inTransaction)
      return 'a transaction of the host is open; pass { host: { manager } } to be part of it';
    const isResting = this.clock.elapsed() < this.restsUntil;
    const later = isResting ? this.waiting.filter(({ writes }) => writes) : [];
    const tasks = isResting ? this.waiting.filter(({ writes }) => !writes) : this.waiting;
    this.waiting = [];
    const held = new Set(this.tried(tasks));
    this.waiting = [...later, ...tasks.filter((task) => held.has(task))];
    return 'another process holds the database';
  }

  /** Runs tasks, and has writes rest after a long transaction, so that other processes get their turn. */
  private tried(tasks: readonly Queued[]): readonly SqliteTask[] {
    const began = this.clock.elapsed();
    const held = this.handle.perform(tasks);
    const writes = tasks.filter((task) => task.writes);
    if (writes.length === 0) return held;
    const now = this.clock.elapsed();
    const isDone = !writes.some((task) => held.includes(task));
    if (isDone) this.restMs = now - began < LONG_MS ? 0 : Math.min((now - began) / 10, LONGEST_REST_MS);
    this.restsUntil = now + this.restMs;
    return held;
  }

  /** Waits without holding up the event loop; what has waited for too long is refused. */
  private lookAgain(obstacle: string): void {
    const oldest = this.clock.elapsed() - PATIENCE_MS;
    const why = new StorageUnavailableError(`The SQLite database is busy: ${obstacle}.`);
    this.reject(why, ({ since }) => since <= oldest);
    if (this.waiting.length === 0) return;
    this.cancelLook = this.clock.after(LOOK_AGAIN_MS, () => this.flush());
    // The clock's timers let a process end; one that waits for its turn, an operator's command for instance, must not.
    this.keptAlive = setInterval(() => undefined, LONGEST_MS);
  }

  private stopLooking(): void {
    this.cancelLook();
    clearInterval(this.keptAlive);
  }

  private reject(error: unknown, which: (task: Queued) => boolean = () => true): void {
    const tasks = this.waiting;
    this.waiting = tasks.filter((task) => !which(task));
    for (const task of tasks) if (which(task)) task.fail(error);
  }
}
