import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import type { Row, Statement, StatementResult } from './operation.js';

/** A connection that is ours for the moment, and how statements reach the database through it. */
export interface StorageConnection {
  /** @param durable whether the commit is to wait for the disk */
  begin(durable: boolean): Promise<unknown>;
  run(statement: Statement): Promise<StatementResult>;
  /** Sends a statement and the commit in one go; undefined where they have to go one after the other. */
  runAndCommit?(statement: Statement): { readonly result: Promise<StatementResult>; readonly commit: Promise<unknown> };
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Closes the connection for good: what it has open is not known, and nobody else may find it in the pool. */
  discard(): void;
}

/** A statement in the database's own placeholders. */
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
 * How long an answer is waited for, in milliseconds: where the network falls silent none comes. `pg` sees to it itself, other
 * drivers do not.
 */
export const ANSWER_MS = 26_000;

/**
 * Statements through TypeORM, which works on every driver. A connection that does not answer is closed, and what was asked
 * of it fails.
 */
export function runnerSession(
  runner: QueryRunner,
  connection: unknown,
  native: Native,
  isolation?: 'READ COMMITTED',
): StorageConnection {
  const discard = () => close('destroy', connection);
  return {
    begin: () => answered(runner.startTransaction(isolation), discard),
    run: (statement) => {
      const result = runOn(runner, native(statement));
      return statement.noTimeout ? result : answered(result, discard);
    },
    commit: () => answered(runner.commitTransaction(), discard),
    rollback: () => answered(runner.rollbackTransaction(), discard),
    discard,
  };
}

function answered<T>(answer: Promise<T>, discard: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      discard();
      reject(new Error('Timeout: the database does not answer.'));
    }, ANSWER_MS);
    answer.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** A statement to be prepared. */
interface PostgresQuery {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  /** How long the answer is waited for, in milliseconds; the connection's own time where it is left out. */
  readonly query_timeout?: number;
}

/** The longest time that a timer of Node's can take. */
const WITHOUT_END_MS = 2 ** 31 - 1;

/** What we use of a connection of `pg`. */
export interface PostgresConnection {
  /** True: what is sent before the answers have come goes out at once. From `pg` 8.23, by the option of that name. */
  readonly pipeline?: boolean;
  query(query: string | PostgresQuery): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number | null }>;
}

/**
 * How long a transaction of ours may stand still between two statements, in seconds: while its process is frozen, others wait
 * for the rows that it holds. Less than they wait for a lock. Then the database ends the connection.
 */
export const IDLE_IN_TRANSACTION_S = 3;

/**
 * A plan is kept from a connection's first uses of a statement, when a table may be all but empty: reading it whole is the
 * cheapest then, and a queue that fills up meanwhile is read whole with every batch, until the database analyses it. Our
 * writes and listings find their rows by an index, always; and not through a bitmap, which does not let an index forget dead entries.
 */
export const BEGIN = ['seqscan', 'hashjoin', 'mergejoin', 'bitmapscan'].reduce(
  (begun, plan) => `${begun}; SET LOCAL enable_${plan} = off`,
  // Whatever the server's default is: what was read before a wait for a lock would not be what stands there after it.
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = '${IDLE_IN_TRANSACTION_S}s'`,
);

/**
 * Statements on `pg`'s own connection, prepared once per connection: TypeORM would have each of them planned again every
 * time, which for the accept statement takes longer than running it. With pipelining BEGIN travels with the first statement
 * and COMMIT with the last, which halves the round trips of most transactions.
 */
export function preparedSession(connection: PostgresConnection, native: NamedNative): StorageConnection {
  const run = async (statement: Statement) => {
    const { name, sql, params } = native(statement);
    const patience = statement.noTimeout ? { query_timeout: WITHOUT_END_MS } : {};
    const { rows, rowCount } = await connection.query({ name, text: sql, values: params, ...patience });
    return { rows, affected: rowCount ?? 0 };
  };
  const commit = () => connection.query('COMMIT');
  return {
    begin: async (durable) => {
      const begun = connection.query(durable ? BEGIN : `${BEGIN}; SET LOCAL synchronous_commit = off`);
      if (!connection.pipeline) return begun;
      // Where it fails the connection is lost, and the first statement fails with it.
      begun.catch(() => undefined);
    },
    run,
    ...(connection.pipeline && {
      runAndCommit: (statement: Statement) => ({ result: run(statement), commit: commit() }),
    }),
    commit,
    rollback: () => connection.query('ROLLBACK'),
    discard: () => close('end', connection),
  };
}

/** A statement in the database's own placeholders, under the name by which connections keep its plan; '' where they do not. */
export type NamedNative = (statement: Statement) => Statement & { readonly name: string };

/** The same text has the same name wherever it comes from: a connection may serve several storages. */
export function planNameOf(sql: string): string {
  return `messaging_${createHash('sha256').update(sql).digest('hex').slice(0, 24)}`;
}

/** Each driver has its own word for it. */
function close(word: 'destroy' | 'end', connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) return;
  const end: unknown = Reflect.get(connection, word);
  if (typeof end === 'function') end.call(connection);
}
