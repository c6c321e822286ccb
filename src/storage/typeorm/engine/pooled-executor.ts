import type { DataSource } from 'typeorm';
import { StorageUnavailableError } from '../../../common/errors.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Dialect } from '../dialects/dialect.js';
import type { StorageConnection } from './connection.js';
import { Executor, type Work } from './executor.js';
import { asStorageFault, codeOf, openRunner } from './host-transaction.js';
import { HostWork } from './host-work.js';
import { drive } from './operation.js';
import { ReadingShare } from './reading-share.js';
import { TransactionWatch } from './transaction-watch.js';

/** Deadlock or serialization failure: the database itself asks to try again. */
const TRY_AGAIN = new Set(['40001', '40P01', 'ER_LOCK_DEADLOCK']);

/** How long a connection of the pool is waited for, in milliseconds: some drivers would wait without end. */
const CONNECTION_MS = 15_000;
/** Connections in a pool of `pg` and of `mysql2`, unless told otherwise. */
const DRIVERS_POOL = 10;
/** The part of the pool's connections that listings may use at a time. */
const LISTINGS = 0.3;

/** Databases with a connection pool: each write is a transaction on a connection of its own. */
export class PooledExecutor extends Executor {
  protected override readonly share: ReadingShare;
  private readonly running = new Set<Promise<unknown>>();
  private readonly hostWork: HostWork;
  private readonly watch: TransactionWatch;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    override readonly dialect: Dialect,
  ) {
    super();
    this.hostWork = new HostWork(dataSource, dialect, async (runner) => {
      dialect.session(runner, await runner.connect()).discard();
    });
    this.watch = new TransactionWatch(dataSource);
    this.share = new ReadingShare(Math.max(1, Math.floor(this.connections * LISTINGS)));
  }

  override get connections(): number {
    const { poolSize, extra } = this.dataSource.options;
    const own: unknown = Reflect.get(Object(extra), 'max') ?? Reflect.get(Object(extra), 'connectionLimit');
    return typeof own === 'number' ? own : (poolSize ?? DRIVERS_POOL);
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.track(this.transaction(work, 1, true));
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.track(this.transaction(work, 1, false));
  }

  override read<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    if (host) return this.hostWork.read(host, work);
    return this.track(
      this.connected((session) => drive(work(), (statement) => session.run(statement))).catch((error: unknown) => {
        throw asStorageFault(error);
      }),
    );
  }

  override browse<T>(work: Work<T>): Promise<T> {
    if (!this.dialect.browsesInTransactions) return super.browse(work);
    return this.share.run(() => this.track(this.transaction(work, 1, true)));
  }

  override whenCommitted(host: HostTransaction, task: () => void): void {
    this.watch.whenCommitted(openRunner(host, this.dataSource), task);
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    await Promise.allSettled(this.running);
    this.watch.stop();
  }

  private async transaction<T>(work: Work<T>, tries: number, durable: boolean): Promise<T> {
    try {
      return await this.connected((session) => transact(session, work, durable));
    } catch (error) {
      // Only what the database itself rolled back is repeated: after a lost connection a COMMIT may have happened.
      if (tries < 4 && TRY_AGAIN.has(codeOf(error) ?? '')) return this.transaction(work, tries + 1, durable);
      throw asStorageFault(error);
    }
  }

  private async connected<T>(use: (session: StorageConnection) => Promise<T>): Promise<T> {
    if (this.stopped) throw new StorageUnavailableError('The storage is stopped.');
    const runner = this.dataSource.createQueryRunner();
    const connecting: Promise<unknown> = runner.connect();
    const release = () => runner.release().catch(() => undefined);
    let late = false;
    try {
      const connection = await inTime(connecting, () => {
        late = true;
      });
      return await use(this.dialect.session(runner, connection));
    } finally {
      // One that comes after all goes back to the pool.
      if (late) connecting.then(release, release);
      else await release();
    }
  }

  private track<T>(promise: Promise<T>): Promise<T> {
    this.running.add(promise);
    const done = () => this.running.delete(promise);
    promise.then(done, done);
    return promise;
  }
}

function inTime<T>(connecting: Promise<T>, tooLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      tooLate();
      reject(new StorageUnavailableError('No connection of the pool is free.'));
    }, CONNECTION_MS);
    connecting.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

async function transact<T>(session: StorageConnection, work: Work<T>, durable: boolean): Promise<T> {
  let touched = false;
  let begun = false;
  let working = false;
  try {
    let committing: Promise<unknown> | undefined;
    const result = await drive(work(), async (statement) => {
      touched = true;
      if (!working) {
        if (!statement.autocommit) await session.begin(durable);
        begun = !statement.autocommit;
        working = true;
      }
      const together = statement.endsTransaction ? session.runAndCommit?.(statement) : undefined;
      if (!together) return session.run(statement);
      committing = together.commit;
      // Where the statement fails, so does the commit behind it: the database has made a rollback of it.
      committing.catch(() => undefined);
      return together.result;
    });
    working = false;
    if (begun) await (committing ?? session.commit());
    return result;
  } catch (error) {
    // Where BEGIN, COMMIT or ROLLBACK fails, a transaction may be open still: the next one would go on in it. After a
    // statement by itself there is nothing to roll back; that ROLLBACK is answered shows that the connection lives.
    const undone = working && (await session.rollback().then(yes, no));
    if (touched && !undone) session.discard();
    throw error;
  }
}

const yes = () => true;
const no = () => false;
