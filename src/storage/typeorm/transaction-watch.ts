import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

/** What is to be done after a commit, and how many transactions were open around it, one in another. */
interface Task {
  readonly run: () => void;
  readonly depth: number;
}

/**
 * Tells when transactions on a DataSource end, the host's included. One within another, which is a savepoint, takes the tasks
 * along that came up in it when it is rolled back; when it is committed they wait for the one around it.
 */
export class TransactionWatch {
  private readonly tasks = new WeakMap<QueryRunner, readonly Task[]>();
  private readonly depths = new WeakMap<QueryRunner, number>();
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
      afterTransactionStart: ({ queryRunner }) => void this.depths.set(queryRunner, this.depthOf(queryRunner) + 1),
      afterTransactionCommit: ({ queryRunner }) => end(queryRunner, true),
      afterTransactionRollback: ({ queryRunner }) => end(queryRunner, false),
    };
    dataSource.subscribers.push(this.subscriber);
  }

  /** Runs `task` when the transaction that is open on `runner` has been committed, and never when it is rolled back. */
  whenCommitted(runner: QueryRunner, task: () => void): void {
    this.tasks.set(runner, [...(this.tasks.get(runner) ?? []), { run: task, depth: this.depthOf(runner) }]);
  }

  stop(): void {
    const place = this.dataSource.subscribers.indexOf(this.subscriber);
    if (place >= 0) this.dataSource.subscribers.splice(place, 1);
  }

  private depthOf(runner: QueryRunner): number {
    return this.depths.get(runner) ?? 0;
  }

  private endInner(runner: QueryRunner, committed: boolean): void {
    const depth = this.depthOf(runner) - 1;
    this.depths.set(runner, depth);
    const tasks = this.tasks.get(runner) ?? [];
    const kept = committed ? tasks : tasks.filter((task) => task.depth <= depth);
    this.tasks.set(
      runner,
      kept.map((task) => ({ ...task, depth: Math.min(task.depth, depth) })),
    );
  }

  private end(runner: QueryRunner, committed: boolean): void {
    const tasks = this.tasks.get(runner) ?? [];
    this.tasks.delete(runner);
    this.depths.delete(runner);
    if (committed) for (const { run } of tasks) run();
    this.ended();
  }
}
