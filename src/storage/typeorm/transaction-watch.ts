import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

/** Tells when transactions on a DataSource end, the host's included; one that is only a savepoint in another does not count. */
export class TransactionWatch {
  private readonly tasks = new WeakMap<QueryRunner, (() => void)[]>();
  private readonly subscriber: EntitySubscriberInterface;

  /** @param ended called in the very moment in which a transaction has ended, before its caller goes on */
  constructor(
    private readonly dataSource: DataSource,
    private readonly ended: () => void = () => undefined,
  ) {
    const end = (runner: QueryRunner, committed: boolean) => {
      if (!runner.isTransactionActive) this.end(runner, committed);
    };
    this.subscriber = {
      afterTransactionCommit: ({ queryRunner }) => end(queryRunner, true),
      afterTransactionRollback: ({ queryRunner }) => end(queryRunner, false),
    };
    dataSource.subscribers.push(this.subscriber);
  }

  /** Runs `task` when the transaction that is open on `runner` has been committed, and never when it is rolled back. */
  whenCommitted(runner: QueryRunner, task: () => void): void {
    this.tasks.set(runner, [...(this.tasks.get(runner) ?? []), task]);
  }

  stop(): void {
    const place = this.dataSource.subscribers.indexOf(this.subscriber);
    if (place >= 0) this.dataSource.subscribers.splice(place, 1);
  }

  private end(runner: QueryRunner, committed: boolean): void {
    const tasks = this.tasks.get(runner) ?? [];
    this.tasks.delete(runner);
    if (committed) for (const task of tasks) task();
    this.ended();
  }
}
