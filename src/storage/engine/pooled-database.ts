import type { DataSource } from 'typeorm';
import { type Clock, SystemClock } from '../../common/clock.js';
import { pause } from '../../common/concurrency/async.js';
import { PendingWork } from '../../common/concurrency/pending-work.js';
import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import { blameOf } from './blame.js';
import type { StorageConnection } from './connection.js';
import { Database, type Work } from './database.js';
import { asStorageFault } from './faults.js';
import { openRunner } from './host-transaction.js';
import { HostWork } from './host-work.js';
import { drive, type StatementResult } from './operation.js';
import { ReadingShare } from './reading-share.js';
import { TransactionWatch } from './transaction-watch.js';

/**
 * How often a transaction is repeated after the database has rolled it back because of another one. It is not repeated
 * after `REPEAT_MS`, to leave time to answer the request. The pauses are random, so that two transactions do not meet
 * again. A pause is at most `FIRST_PAUSE_MS`, which doubles each time up to `MAX_PAUSE_MS`. On three Galera nodes,
 * three repeats without a pause left 7.6 % of the calls of one account without an answer; with these values there are
 * none.
 */
const MAX_REPEATS = 11;
const REPEAT_MS = 10_000;
const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 200;

/** The longest wait for a connection of the pool, in milliseconds; some drivers have no limit. */
const CONNECTION_MS = 15_000;
/** The default pool size of `pg` and `mysql2`. */
const DEFAULT_POOL_SIZE = 10;
/** The share of the pool's connections that listings may use at a time. */
const LISTINGS_SHARE = 0.3;

/** A database with a connection pool: each write is a transaction on a connection of its own. */
export class PooledDatabase extends Database {
  protected override readonly share: ReadingShare;
  private readonly running = new PendingWork();
  private readonly hostWork: HostWork;
  private readonly watch: TransactionWatch;
  private connecting = 0;
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    override readonly dialect: Dialect,
    private readonly clock: Clock = new SystemClock(),
    private readonly random: () => number = Math.random,
  ) {
    super();
    this.hostWork = new HostWork(dataSource, dialect, async (runner) => {
      dialect.connection(runner, await runner.connect()).discard();
    });
    this.watch = new TransactionWatch(dataSource);
    this.share = new ReadingShare(Math.max(1, Math.floor(this.maxTransactions * LISTINGS_SHARE)));
  }

  override get maxTransactions(): number {
    const { poolSize, extra } = this.dataSource.options;
    const driverLimit: unknown = Reflect.get(Object(extra), 'max') ?? Reflect.get(Object(extra), 'connectionLimit');
    return typeof driverLimit === 'number' ? driverLimit : (poolSize ?? DEFAULT_POOL_SIZE);
  }

  override get waitingWork(): number {
    return this.connecting;
  }

  override write<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.running.add(this.transaction(work, true));
  }

  override writeLazily<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    return host ? this.hostWork.write(host, work) : this.running.add(this.transaction(work, false));
  }

  override read<T>(work: Work<T>, host?: HostTransaction): Promise<T> {
    if (host) return this.hostWork.read(host, work);
    return this.running.add(this.reading(work));
  }

  override migrate(work: Work<void>): Promise<void> {
    return this.running.add(
      this.connected(async (connection) => {
        try {
          await drive(work(), (statement) => connection.run(statement));
        } catch (error) {
          // The connection is closed, because it may have the lock of migrations or an open transaction.
          connection.discard();
          throw asStorageFault(error);
        }
      }),
    );
  }

  override browse<T>(work: Work<T>, accountId: string | undefined): Promise<T> {
    if (!this.dialect.browsesInTransactions) return super.browse(work, accountId);
    return this.share.run(() => this.running.add(this.transaction(work, true)), accountId);
  }

  override whenCommitted(host: HostTransaction, task: () => void): void {
    this.watch.whenCommitted(openRunner(host, this.dataSource), task);
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    await this.running.end();
    this.watch.stop();
  }

  private async reading<T>(work: Work<T>): Promise<T> {
    try {
      return await this.connected(async (connection) => {
        try {
          return await drive(work(), (statement) => connection.run(statement));
        } catch (error) {
          if (['server', 'lost'].includes(blameOf(error))) connection.discard();
          throw error;
        }
      });
    } catch (error) {
      throw asStorageFault(error);
    }
  }

  private async transaction<T>(work: Work<T>, durable: boolean): Promise<T> {
    const until = this.clock.elapsed() + REPEAT_MS;
    for (let repeat = 1; ; repeat++) {
      try {
        return await this.connected((connection) => transact(connection, work, durable));
      } catch (error) {
        // A transaction is repeated only if the database has rolled it back. After a lost connection, the COMMIT may
        // have succeeded.
        const isRepeatable = blameOf(error) === 'conflict' && repeat <= MAX_REPEATS && this.clock.elapsed() < until;
        if (!isRepeatable || this.stopped) throw asStorageFault(error);
      }
      await pause(this.clock, this.random() * Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (repeat - 1)));
    }
  }

  private async connected<T>(use: (connection: StorageConnection) => Promise<T>): Promise<T> {
    if (this.stopped) throw new StorageUnavailableError('The storage is stopped.');
    const runner = this.dataSource.createQueryRunner();
    this.connecting++;
    const connecting: Promise<unknown> = runner.connect().finally(() => this.connecting--);
    const release = () => runner.release().catch(() => undefined);
    let late = false;
    try {
      const connection = await withTimeout(connecting, () => {
        late = true;
      });
      return await use(this.dialect.connection(runner, connection));
    } finally {
      // If a connection arrives after the time-out, it is returned to the pool.
      if (late) connecting.then(release, release);
      else await release();
    }
  }
}

function withTimeout<T>(connecting: Promise<T>, onTimeout: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onTimeout();
      reject(new StorageUnavailableError('No connection of the pool is free.'));
    }, CONNECTION_MS);
    connecting.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

async function transact<T>(connection: StorageConnection, work: Work<T>, durable: boolean): Promise<T> {
  let touched = false;
  let begun = false;
  let working = false;
  const ahead = new StatementsAhead();
  try {
    let committing: Promise<unknown> | undefined;
    const result = await drive(work(), async (statement) => {
      touched = true;
      if (!working) {
        if (!statement.autocommit) await connection.begin(durable);
        begun = !statement.autocommit;
        working = true;
      }
      const early = statement.isUnread ? connection.runAhead?.(statement) : undefined;
      if (early) return ahead.add(early);
      const together = statement.endsTransaction ? connection.runAndCommit?.(statement) : undefined;
      if (!together) return connection.run(statement);
      committing = together.commit;
      // If the statement fails, the database rolls back at the COMMIT that follows it.
      committing.catch(() => undefined);
      return together.result;
    });
    if (begun) committing ??= connection.commit();
    committing?.catch(() => undefined);
    await ahead.answered();
    working = false;
    await committing;
    return result;
  } catch (error) {
    const cause = ahead.failure ?? error;
    // If BEGIN, COMMIT or ROLLBACK fails, a transaction may still be open, and the next one would continue it. After an
    // autocommit statement there is nothing to roll back, but an answered ROLLBACK shows that the connection works.
    const undone = working && (await connection.rollback().then(yes, no));
    // A server that is read-only or not ready also answers the ROLLBACK, but the next transaction on this connection
    // would fail too.
    if (touched && (!undone || blameOf(cause) === 'server')) connection.discard();
    throw cause;
  }
}

/** The statements of a transaction that were sent without waiting for their answers. */
class StatementsAhead {
  /** The error of the first one that has failed. The statements behind it fail because of it. */
  failure: unknown;
  private readonly all: Promise<unknown>[] = [];

  add(sent: Promise<unknown>): StatementResult {
    this.all.push(sent);
    sent.catch((error: unknown) => {
      this.failure ??= error;
    });
    return UNREAD;
  }

  async answered(): Promise<void> {
    await Promise.all(this.all);
  }
}

const UNREAD: StatementResult = { rows: [], affected: 0 };
const yes = () => true;
const no = () => false;
