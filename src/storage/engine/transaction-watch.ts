import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

type Task = () => void;

/**
 * Runs tasks when transactions on a DataSource end, including those of the host. The rollback of a nested transaction
 * (a savepoint) drops the tasks added in it; after its commit they wait for the outer transaction.
 */
export class TransactionWatch {
  /** The tasks of each open transaction of a runner, the outermost first. */
  private readonly open = new WeakMap<QueryRunner, readonly (readonly Task[])[]>();
  private readonly subscriber: EntitySubscriberInterface;

  /** @param ended called when an outermost transaction has ended, before its caller continues */
  constructor(
    private readonly dataSource: DataSource,
    private readonly ended: () => void = () => undefined,
  ) {
    const end = (runner: QueryRunner, committed: boolean) => {
      if (runner.isTransactionActive) this.endInner(runner, committed);
      else this.end(runner, committed);
    };
    this.subscriber = {
      afterTransactionStart: ({ queryRunner }) => void this.open.set(queryRunner, [...this.openOn(queryRunner), []]),
      afterTransactionCommit: ({ queryRunner }) => end(queryRunner, true),
      afterTransactionRollback: ({ queryRunner }) => end(queryRunner, false),
    };
    dataSource.subscribers.push(this.subscriber);
  }

  /** Runs `task` after the commit of the transaction that is open on `runner`. After a rollback it is not run. */
  whenCommitted(runner: QueryRunner, task: () => void): void {
    this.add(runner, this.openOn(runner), [task]);
  }

  stop(): void {
    const index = this.dataSource.subscribers.indexOf(this.subscriber);
    if (index >= 0) this.dataSource.subscribers.splice(index, 1);
  }

  private openOn(runner: QueryRunner): readonly (readonly Task[])[] {
    return this.open.get(runner) ?? [];
  }

  /** Adds tasks to the innermost transaction, even if it began before the subscriber was added. */
  private add(runner: QueryRunner, open: readonly (readonly Task[])[], tasks: readonly Task[]): void {
    this.open.set(runner, [...open.slice(0, -1), [...(open.at(-1) ?? []), ...tasks]]);
  }

  private endInner(runner: QueryRunner, committed: boolean): void {
    const open = this.openOn(runner);
    this.add(runner, open.slice(0, -1), committed ? (open.at(-1) ?? []) : []);
  }

  private end(runner: QueryRunner, committed: boolean): void {
    const tasks = this.openOn(runner).flat();
    this.open.delete(runner);
    if (committed) for (const task of tasks) task();
    this.ended();
  }
}
