import { close, type Native, type StorageConnection, withTimeout } from './connection.js';
import type { Row, Statement, StatementResult } from './operation.js';

/** The part of a `mysql2` connection that we use; `execute` runs a statement that the connection prepares once. */
export interface MysqlConnection {
  query: SendStatement;
  execute: SendStatement;
}

type SendStatement = (sql: string, params: readonly unknown[], done: (error: unknown, result: unknown) => void) => void;

/** Whether the driver is `mysql2`. */
export function isMysqlConnection(connection: object): connection is MysqlConnection {
  return ['query', 'execute'].every((method) => typeof Reflect.get(connection, method) === 'function');
}

/**
 * The longest statement that is prepared, in characters. The text of a commit with several large sends depends on their
 * number, so it would rarely be used again.
 */
const KEPT_CHARACTERS = 6000;

/**
 * The maximum number of characters of parameters in a compound statement. A server may refuse packets of more than 1
 * MB.
 */
const COMPOUND_CHARACTERS = 250_000;

/**
 * Makes one compound statement of MariaDB from several statements. It runs them in order and ends at the first one that
 * fails. Undefined if the compound statement might be too long for a packet.
 */
export function compound(statements: readonly Statement[]): Statement | undefined {
  const params = statements.flatMap((statement) => statement.params);
  const characters = params.reduce<number>((sum, param) => sum + (typeof param === 'string' ? param.length : 0), 0);
  if (statements.length > 1 && characters > COMPOUND_CHARACTERS) return undefined;
  // A compound statement inside another one must not have NOT ATOMIC.
  const inner = statements.map(({ sql }) => sql.replace(/^BEGIN NOT ATOMIC/, 'BEGIN'));
  return { sql: `BEGIN NOT ATOMIC ${inner.join('; ')}; END`, params };
}

const BEGIN = 'BEGIN NOT ATOMIC SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; END';
const COMMIT = { sql: 'COMMIT', params: [] };

/**
 * Runs statements on the `mysql2` connection itself, which takes half as long as through TypeORM. The statements that
 * begin a transaction are one round trip, and its last statement and the COMMIT are another one.
 */
export function compoundConnection(connection: MysqlConnection, native: Native): StorageConnection {
  const discard = () => close('destroy', connection);
  const send = (method: 'query' | 'execute', { sql, params }: Statement) =>
    new Promise<StatementResult>((resolve, reject) => {
      connection[method](sql, params, (error, result) => (error ? reject(error) : resolve(resultOf(result))));
    });
  const run = (statement: Statement) => {
    const text = native(statement);
    const isKept = statement.autocommit && text.sql.length <= KEPT_CHARACTERS;
    const result = send(isKept ? 'execute' : 'query', text);
    return statement.noTimeout ? result : withTimeout(result, discard);
  };
  const runPlain = (sql: string) => run({ sql, params: [] });
  return {
    begin: () => runPlain(BEGIN),
    run,
    runAndCommit: (statement) => {
      const both = compound([statement, COMMIT]);
      const result = run(both ?? statement);
      return { result, commit: both ? result : result.then(() => runPlain(COMMIT.sql)) };
    },
    commit: () => runPlain(COMMIT.sql),
    rollback: () => runPlain('ROLLBACK'),
    discard,
  };
}

/** Reads the result of a compound statement: a list for each of its queries, and then the number of written rows. */
function resultOf(result: unknown): StatementResult {
  if (Array.isArray(result)) return { rows: result.flat(), affected: 0 };
  return { rows: NO_ROWS, affected: Number(Reflect.get(Object(result), 'affectedRows') ?? 0) };
}

const NO_ROWS: readonly Row[] = [];
