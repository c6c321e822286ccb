/** One statement, with `?` for each parameter in order. The dialect rewrites it to the database's own placeholders. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
  /**
   * If given, the statement runs once with each of these lists of parameters instead of `params`, and writes one row
   * each time.
   */
  readonly each?: readonly (readonly unknown[])[];
  /**
   * True: it is the last statement of its transaction and its result is not used, so the commit may be sent with it.
   */
  readonly endsTransaction?: boolean;
  /** True: its result is not used, so the next statement may be sent with it. */
  readonly isUnread?: boolean;
  /** True: it is the only statement of its transaction, so BEGIN and COMMIT are not needed. */
  readonly autocommit?: boolean;
  /** True: it has no time-out, for example a change of a large table. */
  readonly noTimeout?: boolean;
}

/** The result of a statement. */
export interface StatementResult {
  readonly rows: readonly Row[];
  /** The number of rows that it wrote. */
  readonly affected: number;
}

/** A row as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * SQL work that yields its statements instead of running them. So the same code can run synchronously (SQLite, in one
 * tick on the raw handle) or asynchronously (PostgreSQL), in a transaction of our own or of the host.
 */
export type Operation<T> = Generator<Statement, T, StatementResult>;

/** Yields one statement and returns its rows. */
export function* rowsOf(sql: string, ...params: readonly unknown[]): Operation<readonly Row[]> {
  return (yield { sql, params }).rows;
}

/** Yields one statement and returns the number of rows that it wrote. */
export function* write(sql: string, ...params: readonly unknown[]): Operation<number> {
  return (yield { sql, params }).affected;
}

/** Yields statements whose results are not used. With `last`, the last of them ends the transaction. */
export function* writeAll(statements: readonly Statement[], last: boolean): Operation<void> {
  for (const [index, statement] of statements.entries()) {
    const isLast = last && index === statements.length - 1;
    yield isLast ? { ...statement, endsTransaction: true } : { ...statement, isUnread: true };
  }
}

/** Runs an operation synchronously. The operation may catch the errors of its statements. */
export function driveSync<T>(operation: Operation<T>, run: (statement: Statement) => StatementResult): T {
  let step = operation.next();
  while (!step.done) {
    let result: StatementResult;
    try {
      result = run(step.value);
    } catch (error) {
      step = operation.throw(error);
      continue;
    }
    step = operation.next(result);
  }
  return step.value;
}

/** Runs an operation asynchronously. The operation may catch the errors of its statements. */
export async function drive<T>(
  operation: Operation<T>,
  run: (statement: Statement) => Promise<StatementResult>,
): Promise<T> {
  let step = operation.next();
  while (!step.done) {
    let result: StatementResult;
    try {
      result = await run(step.value);
    } catch (error) {
      step = operation.throw(error);
      continue;
    }
    step = operation.next(result);
  }
  return step.value;
}
