import type { DataSource, QueryRunner } from 'typeorm';
import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../outbox/outbox-store.js';
import type { Dialect } from './dialect.js';
import { Executor, type Work } from './executor.js';
import { asStorageFault, codeOf, driveOn, openRunner } from './host-transaction.js';

/** Deadlock or serialization failure: the database itself asks to try again. */
const TRY_AGAIN = new Set(['40001', '40P01', 'ER_LOCK_DEADLOCK']);

/** Databases with a connection pool: each write is a transaction on a connection of its own. */
export class PooledExecutor extends Executor {
  private readonly running = new Set<Promise<unknown>>();
  private stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    override readonly dialect: Dialect,
  ) {
    super();
  }

  override write<T>(work: Work<T>): Promise<T> {
    return this.track(this.transaction(work, 1));
  }

  override read<T>(work: Work<T>): Promise<T> {
    return this.track(
      this.connected((runner) => driveOn(runner, this.dialect, work())).catch((error: unknown) => {
        throw asStorageFault(error);
      }),
    );
  }

  override async join<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return driveOn(openRunner(host), this.dialect, work());
  }

  override async stop(): Promise<void> {
    this.stopped = true;
    await Promise.allSettled(this.running);
  }

  private async transaction<T>(work: Work<T>, tries: number): Promise<T> {
    try {
      return await this.connected(async (runner) => {
        await runner.startTransaction(this.dialect.isolation);
        let result: T;
        try {
          result = await driveOn(runner, this.dialect, work());
        } catch (error) {
          await runner.rollbackTransaction().catch(() => undefined);
          throw error;
        }
        await runner.commitTransaction();
        return result;
      });
    } catch (error) {
      // Only what the database itself rolled back is repeated: after a lost connection a COMMIT may have happened.
      if (tries < 4 && TRY_AGAIN.has(codeOf(error) ?? '')) return this.transaction(work, tries + 1);
      throw asStorageFault(error);
    }
  }

  private async connected<T>(use: (runner: QueryRunner) => Promise<T>): Promise<T> {
    if (this.stopped) throw new StorageUnavailableError('The storage is stopped.');
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.connect();
      return await use(runner);
    } finally {
      await runner.release().catch(() => undefined);
    }
  }

  private track<T>(promise: Promise<T>): Promise<T> {
    this.running.add(promise);
    const done = () => this.running.delete(promise);
    promise.then(done, done);
    return promise;
  }
}
