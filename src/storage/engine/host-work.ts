import type { DataSource, QueryRunner } from 'typeorm';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import type { Work } from './database.js';
import { asStorageFault, RecordMovedError } from './faults.js';
import { driveOn, openRunner } from './host-transaction.js';

const SAVEPOINT = 'messaging_work';

/** The maximum number of attempts of an operation that conflicts with another transaction. */
const MAX_ATTEMPTS = 4;

/**
 * Runs operations in open transactions of the host, one at a time in each transaction. Locks do not separate two
 * operations of the same transaction, so a second one would read rows that the first is about to change.
 */
export class HostWork {
  private readonly last = new WeakMap<QueryRunner, Promise<unknown>>();

  /**
   * @param abandon closes the connection of a transaction that the database has rolled back. After a deadlock, MariaDB
   *   rolls back the whole transaction. Later statements and the host's COMMIT would then succeed without its changes
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    private readonly abandon: (runner: QueryRunner) => Promise<void> = async () => undefined,
  ) {}

  /**
   * Runs an operation atomically, even if the host catches its error and commits. If the database has ended the host's
   * transaction, the host's commit fails.
   */
  write<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return this.enqueue(host, (runner) => this.runAtomically(runner, work, 1));
  }

  /** Runs a read that sees the changes of the host's transaction. */
  read<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return this.enqueue(host, (runner) => driveOn(runner, this.dialect, work()));
  }

  private async enqueue<T>(host: HostTransaction, task: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = openRunner(host, this.dataSource);
    // The transaction is checked again before the task runs, because a host that did not await the task may have ended
    // it.
    const turn = (this.last.get(runner) ?? Promise.resolve()).then(() => task(openRunner(host, this.dataSource)));
    this.last.set(
      runner,
      turn.catch(() => undefined),
    );
    try {
      return await turn;
    } catch (error) {
      throw asStorageFault(error);
    }
  }

  private async runAtomically<T>(runner: QueryRunner, work: Work<T>, attempt: number): Promise<T> {
    await runner.query(`SAVEPOINT ${SAVEPOINT}`);
    try {
      const result = await driveOn(runner, this.dialect, this.dialect.keepingLockTimeout(work()));
      await runner.query(`RELEASE SAVEPOINT ${SAVEPOINT}`);
      return result;
    } catch (error) {
      // If this fails too, the database has rolled back the whole transaction or cannot be reached.
      const undone = await this.undo(runner).then(yes, no);
      if (!undone) await this.abandon(runner).catch(() => undefined);
      if (undone && attempt < MAX_ATTEMPTS && error instanceof RecordMovedError) {
        return this.runAtomically(runner, work, attempt + 1);
      }
      throw error;
    }
  }

  private async undo(runner: QueryRunner): Promise<void> {
    await runner.query(`ROLLBACK TO SAVEPOINT ${SAVEPOINT}`);
    await runner.query(`RELEASE SAVEPOINT ${SAVEPOINT}`);
  }
}

const yes = () => true;
const no = () => false;
