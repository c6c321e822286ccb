import { jest } from '@jest/globals';
import type { Statement } from '../../../src/storage/engine/operation.js';
import { PostgresDialect } from '../../../src/storage/postgres/postgres-dialect.js';

/** A statement as the database got it, and whether it ran in a transaction of ours. */
export interface Recorded extends Pick<Statement, 'sql' | 'params'> {
  readonly inTransaction: boolean;
}

/** Records the statements of storages on PostgreSQL, each text once, with its latest parameters, until `stop`. */
export function recordStatements(): { readonly found: ReadonlyMap<string, Recorded>; stop(): void } {
  const found = new Map<string, Recorded>();
  const connection = PostgresDialect.prototype.connection;
  const spy = jest.spyOn(PostgresDialect.prototype, 'connection').mockImplementation(function (
    this: PostgresDialect,
    ...given
  ) {
    const inner = connection.apply(this, given);
    let inTransaction = false;
    const keep = (statement: Statement): Statement => {
      const { sql, params } = this.native(statement);
      if (/^(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql)) {
        found.set(`${inTransaction} ${sql}`, { sql, params, inTransaction });
      }
      return statement;
    };
    const { runAhead, runAndCommit } = inner;
    return {
      ...inner,
      begin: (durable) => {
        inTransaction = true;
        return inner.begin(durable);
      },
      run: (statement) => inner.run(keep(statement)),
      ...(runAhead && { runAhead: (statement: Statement) => runAhead(keep(statement)) }),
      ...(runAndCommit && { runAndCommit: (statement: Statement) => runAndCommit(keep(statement)) }),
    };
  });
  return { found, stop: () => spy.mockRestore() };
}
