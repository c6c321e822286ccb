import { createHash } from 'node:crypto';
import type { QueryRunner } from 'typeorm';
import type { Row, Statement, StatementResult } from './operation.js';

/** A connection that is ours for the moment, and how statements reach the database through it. */
export interface Session {
  /** @param durable whether the commit is to wait for the disk */
  begin(durable: boolean): Promise<unknown>;
  run(statement: Statement): Promise<StatementResult>;
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
  /** Closes the connection for good: what it has open is not known, and nobody else may find it in the pool. */
  discard(): void;
}

/** A statement in the database's own placeholders. */
export type Native = (statement: Statement) => Statement;

/** Runs one statement on a query runner. */
export async function runOn(runner: QueryRunner, { sql, params }: Statement): Promise<StatementResult> {
  const result = await runner.query(sql, [...params], true);
  const rows: unknown = result.records ?? result.raw;
  return { rows: Array.isArray(rows) ? rows : [], affected: result.affected ?? 0 };
}

/** Statements through TypeORM, which works on every driver. */
export function runnerSession(
  runner: QueryRunner,
  connection: unknown,
  native: Native,
  isolation?: 'READ COMMITTED',
): Session {
  return {
    begin: () => runner.startTransaction(isolation),
    run: (statement) => runOn(runner, native(statement)),
    commit: () => runner.commitTransaction(),
    rollback: () => runner.rollbackTransaction(),
    discard: () => close('destroy', connection),
  };
}

/** What we use of a connection of `pg`. */
export interface PostgresConnection {
  query(
    query: string | { readonly name: string; readonly text: string; readonly values: readonly unknown[] },
  ): Promise<{ readonly rows: readonly Row[]; readonly rowCount: number | null }>;
}

/**
 * Statements on `pg`'s own connection, prepared once per connection: TypeORM would have each of them planned again every
 * time, which for the accept statement takes longer than running it.
 */
export function preparedSession(connection: PostgresConnection, native: Native): Session {
  return {
    begin: (durable) => connection.query(durable ? 'BEGIN' : 'BEGIN; SET LOCAL synchronous_commit = off'),
    run: async (statement) => {
      const { sql, params } = native(statement);
      const { rows, rowCount } = await connection.query({ name: nameOf(sql), text: sql, values: params });
      return { rows, affected: rowCount ?? 0 };
    },
    commit: () => connection.query('COMMIT'),
    rollback: () => connection.query('ROLLBACK'),
    discard: () => close('end', connection),
  };
}

/** Each driver has its own word for it. */
function close(word: 'destroy' | 'end', connection: unknown): void {
  if (typeof connection !== 'object' || connection === null) return;
  const end: unknown = Reflect.get(connection, word);
  if (typeof end === 'function') end.call(connection);
}

/** The same text has the same name wherever it comes from: a connection may serve several storages. */
function nameOf(sql: string): string {
  return `messaging_${createHash('sha256').update(sql).digest('hex').slice(0, 24)}`;
}
