import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import type { Row, Statement, StatementResult } from './operation.js';

/** A connection that one transaction of ours uses exclusively. */
export interface StorageConnection {
  /** @param durable whether the commit waits for the disk */
  begin(durable: boolean): Promise<unknown>;
  run(statement: Statement): Promise<StatementResult>;
  /** As `run`; the next statement may be sent before the answer, and fails if this one does. Undefined if the driver cannot pipeline. */
  runAhead?(statement: Statement): Promise<unknown>;
  /** Sends a statement and the commit in one round trip. Undefined if the driver cannot pipeline. */
  runAndCommit?(statement: Statement): { readonly result: Promise<StatementResult>; readonly commit: Promise<unknown> };
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Closes the connection instead of returning it to the pool, because its transaction state is unknown. */
  discard(): void;
}

/** Rewrites a statement to the database's own placeholders. */
export type Native = (statement: Statement) => Statement;

/** Runs one statement on a query runner. */
export async function runOn(runner: QueryRunner, { sql, params, each }: Statement): Promise<StatementResult> {
  let affected = 0;
  let rows: unknown;
  for (const values of each ?? [params]) {
    const result = await runner.query(sql, [...values], true);
    affected += result.affected ?? 0;
    rows = result.records ?? result.raw;
  }
  return { rows: Array.isArray(rows) ? rows : [], affected };
}

/**
 * The longest wait for an answer, in milliseconds. On a broken network no answer comes. `pg` has a time-out of its own;
 * other drivers have none.
 */
export const ANSWER_MS = 26_000;

/**
 * Runs statements through TypeORM, which works on every driver. A connection that does not answer is closed, and its
 * statement fails.
 */
export function runnerConnection(
  runner: QueryRunner,
  connection: unknown,
  native: Native,
  isolation?: 'READ COMMITTED',
): StorageConnection {
  const discard = () => close('destroy', connection);
  return {
    begin: () => withTimeout(runner.startTransaction(isolation), discard),
    run: (statement) => {
      const result = runOn(runner, native(statement));
      return statement.noTimeout ? result : withTimeout(result, discard);
    },
    commit: () => withTimeout(runner.commitTransaction(), discard),
    rollback: () => withTimeout(runner.rollbackTransaction(), discard),
    discard,
  };
}

/** Calls `discard` and fails if there is no answer in time. */
export function withTimeout<T>(answer: Promise<T>, discard: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      discard();
      reject(new Error('Timeout: the database does not answer.'));
    }, ANSWER_MS);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** A prepared statement of `pg`. */
export interface PostgresQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** The longest wait for the answer, in milliseconds. Default: the connection's `query_timeout`. */
  readonly query_timeout?: number;
}

/** The longest delay of a Node timer, for statements without a time-out. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** The part of a `pg` connection that we use. */
export interface PostgresConnection {
  /** True: queries are sent without waiting for earlier answers (option `pipeline`, from `pg` 8.23). */
  readonly pipeline?: boolean;
  query(query: string | PostgresQuery): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number | null }>;
}

/**
 * The longest pause between two statements of a transaction, in seconds. After it the database ends the connection.
 * Otherwise a frozen process would keep its row locks. It is shorter than the lock time-out of the transactions that
 * wait for such locks.
 */
export const IDLE_IN_TRANSACTION_S = 3;

/**
 * A connection keeps the plan of a statement's first executions. While a table is nearly empty, a sequential scan is
 * the cheapest plan. It would then be used for every batch of a full queue until the table is analysed. So our
 * transactions disable the plans that read whole tables. They also disable bitmap scans, which do not mark dead index
 * entries, and parallel workers, because starting them takes longer than reading the thousand rows of a statement. JIT
 * is disabled because of the cost of a disabled plan: if a table has no index for a statement, this cost is above the
 * thresholds of JIT, and compiling takes longer than running.
 */
export const BEGIN = ['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'].reduce(
  (begun, plan) => `${begun}; SET LOCAL enable_${plan} = off`,
  // The isolation level is set explicitly, because the server's default may be stricter. A read after a wait for a lock
  // would then be stale.
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION_S}s'; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off`,
);

/**
 * Runs prepared statements on the `pg` connection itself. With TypeORM, PostgreSQL would plan each statement at every
 * execution, and planning the accept statement takes longer than running it. With pipelining, BEGIN is sent with the
 * first statement and COMMIT with the last one, which halves the round trips of most transactions.
 *
 * @param begin the statements that begin a transaction
 */
export function preparedConnection(
  connection: PostgresConnection,
  native: NamedNative,
  begin: string = BEGIN,
): StorageConnection {
  const run = async (statement: Statement) => {
    const { name, sql, params } = native(statement);
    const timeout = statement.noTimeout ? { query_timeout: NO_TIMEOUT_MS } : {};
    const { rows, rowCount } = await connection.query({ name, text: sql, values: params, ...timeout });
    return { rows, affected: rowCount ?? 0 };
  };
  const commit = () => connection.query('COMMIT');
  return {
    begin: async (durable) => {
      const begun = connection.query(durable ? begin : `${begin}; SET LOCAL synchronous_commit = off`);
      if (!connection.pipeline) return begun;
      // If BEGIN fails, the connection is lost, and the first statement fails too.
      begun.catch(() => undefined);
    },
    run,
    ...(connection.pipeline && {
      runAhead: run,
      runAndCommit: (statement: Statement) => ({ result: run(statement), commit: commit() }),
    }),
    commit,
    rollback: () => connection.query('ROLLBACK'),
    discard: () => close('end', connection),
  };
}

/** Like {@link Native}, with the name under which connections keep the statement's plan; '' for an unprepared statement. */
type NamedNative = (statement: Statement) => Statement & { readonly name: string };

/**
 * The name of a prepared statement. It is derived from the text, because several storages may use the same connection.
 */
export function planNameOf(sql: string): string {
  return `messaging_${createHash('sha256').update(sql).digest('hex').slice(0, 24)}`;
}

/** Calls the method by which the driver closes a connection. */
export function close(method: 'destroy' | 'end', connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) return;
  const end: unknown = Reflect.get(connection, method);
  if (typeof end === 'function') end.call(connection);
}
