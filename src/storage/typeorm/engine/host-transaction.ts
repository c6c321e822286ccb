import { type DataSource, EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { MessagingError, StorageUnavailableError } from '../../../common/errors.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Dialect } from '../dialects/dialect.js';
import { runOn } from './connection.js';
import { drive, type Operation } from './operation.js';

/** The query runner of a host's open transaction; throws a sentence when there is none. */
export function openRunner(host: HostTransaction, dataSource: DataSource): QueryRunner {
  const runner = host.manager instanceof EntityManager ? host.manager.queryRunner : undefined;
  if (!runner?.isTransactionActive || runner.dataSource !== dataSource) {
    throw new StorageUnavailableError(
      'The manager of { host: { manager } } must be the EntityManager of an open TypeORM transaction on the storage’s DataSource.',
    );
  }
  return runner;
}

/** Runs an operation statement by statement on a query runner, inside whatever transaction it has open. */
export function driveOn<T>(runner: QueryRunner, dialect: Dialect, operation: Operation<T>): Promise<T> {
  return drive(operation, (statement) => runOn(runner, dialect.native(statement)));
}

/** Codes of connections, of SQLite, of PostgreSQL, and of MariaDB and MySQL, that say: not now. */
const UNAVAILABLE = [
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)/,
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/,
  /^(08|53|57|58|55P03|25006|25P0[34]|40)/,
  /^PROTOCOL_|^ER_(LOCK_|CON_COUNT|TOO_MANY_USER_CONN|USER_LIMIT|SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CONNECTION_KILLED|NEW_ABORTING)/,
  /^ER_(QUERY_INTERRUPTED|QUERY_TIMEOUT|STATEMENT_TIMEOUT|NET_|DISK_FULL|RECORD_FILE_FULL|OPTION_PREVENTS|READ_ONLY|OUT_OF)/,
];

/** A database fault as the domain sees it; refusals of the domain pass as they are. */
export function asStorageFault(cause: unknown): unknown {
  if (cause instanceof MessagingError) return cause;
  const code = codeOf(cause);
  const unavailable =
    code === undefined
      ? cause instanceof Error &&
        /timeout|terminated|not connected|not queryable|closed|released|end on the pool/i.test(cause.message)
      : UNAVAILABLE.some((codes) => codes.test(code));
  if (!unavailable) return withoutParameters(cause, code);
  return new StorageUnavailableError(`The database does not answer (${code ?? 'no code'}).`, {
    cause: withoutParameters(cause, code),
  });
}

/** A driver's errors carry parameters and values, bodies and numbers among them, which must not reach a log. */
function withoutParameters(cause: unknown, code: string | undefined): unknown {
  const bare = code === undefined && !(cause instanceof QueryFailedError);
  if (bare) return cause;
  return Object.assign(new Error(`The database refused a statement (${code ?? 'no code'}).`), { code });
}

/** The driver's error code, looked for below TypeORM's wrapper too. */
export function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const code: unknown = Reflect.get(cause, 'code');
  return typeof code === 'string' ? code : codeOf(Reflect.get(cause, 'driverError'));
}
