/** One statement; `?` stands for each parameter in order, whatever the database's own placeholder is. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly unknown[];
  /** Where given, it runs once for each of these in place of `params`: a row is all it writes. */
  readonly each?: readonly (readonly unknown[])[];
  /** True: nothing comes after it and nothing hangs on its result, so the commit may travel with it. */
  readonly endsTransaction?: boolean;
  /** True: it is all of its transaction, so it is its own BEGIN and COMMIT. */
  readonly autocommit?: boolean;
  /** True: it may take as long as it takes, as a change of a large table does. */
  readonly noTimeout?: boolean;
}

/** What a statement gave. */
export interface StatementResult {
  readonly rows: readonly Row[];
  /** Rows that were written. */
  readonly affected: number;
}

/** A row as the database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A piece of work in SQL that yields its statements instead of running them. So one text serves an engine that must run
 * without a pause (SQLite, in one tick on the raw handle) and one that answers later (PostgreSQL), in a transaction of
 * ours or of the host's.
 */
export type Operation<T> = Generator<Statement, T, StatementResult>;

/** Yields one statement and answers its rows. */
export function* rowsOf(sql: string, ...params: readonly unknown[]): Operation<readonly Row[]> {
  return (yield { sql, params }).rows;
}

/** Yields one statement and answers how many rows it wrote. */
export function* write(sql: string, ...params: readonly unknown[]): Operation<number> {
  return (yield { sql, params }).affected;
}

/** Yields statements; with `last`, the transaction ends with the last of them. */
export function* writeAll(statements: readonly Statement[], last: boolean): Operation<void> {
  for (const [index, statement] of statements.entries()) {
    yield last && index === statements.length - 1 ? { ...statement, endsTransaction: last } : statement;
  }
}

/** Runs an operation to its end where statements answer at once; it may catch what a statement throws. */
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

/** Runs an operation to its end where statements answer later; it may catch what a statement throws. */
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
