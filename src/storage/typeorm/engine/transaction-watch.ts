import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

type Task = () => void;

/**
 * Tells when transactions on a DataSource end, the host's included. One within another, which is a savepoint, takes the tasks
 * along that came up in it when it is rolled back; when it is committed they wait for the one around it.
 */
export class TransactionWatch {
  /** The tasks of each transaction that is open on a runner, the outermost first. */
  private readonly open = new WeakMap<QueryRunner, readonly (readonly Task[])[]>();
  private readonly subscriber: EntitySubscriberInterface;

  /** @param ended called in the very moment in which a transaction has ended, before its caller goes on */
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

  /** Runs `task` when the transaction that is open on `runner` has been committed, and never when it is rolled back. */
  whenCommitted(runner: QueryRunner, task: () => void): void {
    this.add(runner, this.openOn(runner), [task]);
  }

  stop(): void {
    const place = this.dataSource.subscribers.indexOf(this.subscriber);
    if (place >= 0) this.dataSource.subscribers.splice(place, 1);
  }

  private openOn(runner: QueryRunner): readonly (readonly Task[])[] {
    return this.open.get(runner) ?? [];
  }

  /** To the innermost of them; one that began before we listened comes up here. */
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
