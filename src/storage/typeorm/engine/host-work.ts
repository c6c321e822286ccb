import type { DataSource, QueryRunner } from 'typeorm';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Dialect } from '../dialects/dialect.js';
import { RecordMovedError } from '../stores/policy-records.js';
import type { Work } from './executor.js';
import { asStorageFault, driveOn, openRunner } from './host-transaction.js';

const SAVEPOINT = 'messaging_work';

/** How often a piece of work is tried that somebody else got in the way of. */
const MOST_TRIES = 4;

/**
 * Our work in transactions that a host has open. In each of them one piece runs at a time: its locks keep out others, but not
 * another piece of the same transaction, which would read what the first one is about to change.
 */
export class HostWork {
  private readonly last = new WeakMap<QueryRunner, Promise<unknown>>();

  /**
   * @param abandon closes the connection of a transaction of which nothing is left: MariaDB ends the whole of it for a
   *   deadlock, and what is run on it afterwards, the host's COMMIT included, would do as though nothing had happened
   */
  constructor(
    private readonly dataSource: DataSource,
    private readonly dialect: Dialect,
    private readonly abandon: (runner: QueryRunner) => Promise<void> = async () => undefined,
  ) {}

  /**
   * All of it or nothing, also where the host catches the error and commits. Where the database has ended its transaction,
   * the commit fails.
   */
  write<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return this.inTurn(host, (runner) => this.whole(runner, work, 1));
  }

  /** Sees what the host's transaction sees. */
  read<T>(host: HostTransaction, work: Work<T>): Promise<T> {
    return this.inTurn(host, (runner) => driveOn(runner, this.dialect, work()));
  }

  private async inTurn<T>(host: HostTransaction, task: (runner: QueryRunner) => Promise<T>): Promise<T> {
    const runner = openRunner(host, this.dataSource);
    // Asked again when its turn comes: a host that did not wait for it may have ended the transaction.
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

  private async whole<T>(runner: QueryRunner, work: Work<T>, tries: number): Promise<T> {
    await runner.query(`SAVEPOINT ${SAVEPOINT}`);
    try {
      const result = await driveOn(runner, this.dialect, this.dialect.keepingLockTimeout(work()));
      await runner.query(`RELEASE SAVEPOINT ${SAVEPOINT}`);
      return result;
    } catch (error) {
      // Where this fails too the database has ended the whole transaction, or is gone: nothing of it is left.
      const undone = await this.undo(runner).then(yes, no);
      if (!undone) await this.abandon(runner).catch(() => undefined);
      if (undone && tries < MOST_TRIES && error instanceof RecordMovedError) return this.whole(runner, work, tries + 1);
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
