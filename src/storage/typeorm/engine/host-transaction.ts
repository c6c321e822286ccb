import { type DataSource, EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import { MessagingError, StorageUnavailableError } from '../../../common/errors.js';
import type { HostTransaction } from '../../../common/host-transaction.js';
import type { Dialect } from '../dialects/dialect.js';
import { runOn } from './connection.js';
import { drive, type Operation } from './operation.js';

/**
 * The query runner of a host's open transaction.
 *
 * @throws StorageUnavailableError where `host` has no open transaction on this DataSource
 */
export function openRunner(host: HostTransaction, dataSource: DataSource): QueryRunner {
  const runner = host.manager instanceof EntityManager ? host.manager.queryRunner : undefined;
  if (!runner?.isTransactionActive || dataSourceOf(runner) !== dataSource) {
    throw new StorageUnavailableError(
      'The manager of { host: { manager } } must be the EntityManager of an open TypeORM transaction on the storage’s DataSource.',
    );
  }
  return runner;
}

/** TypeORM 0.3 has it under the name `connection`, which TypeORM 1 deprecates. */
function dataSourceOf(runner: QueryRunner): unknown {
  return 'dataSource' in runner ? runner.dataSource : Reflect.get(runner, 'connection');
}

/** Runs an operation statement by statement on a query runner, in the transaction that is open there. */
export function driveOn<T>(runner: QueryRunner, dialect: Dialect, operation: Operation<T>): Promise<T> {
  return drive(operation, (statement) => runOn(runner, dialect.native(statement)));
}

/** Error codes for a database that is temporarily unavailable: of connections, SQLite, PostgreSQL, MariaDB and MySQL. */
const UNAVAILABLE = [
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)/,
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB)/,
  /^(08|53|57|58|55P03|25006|25P0[34]|40)/,
  /^PROTOCOL_|^ER_(LOCK_|CON_COUNT|TOO_MANY_USER_CONN|USER_LIMIT|SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CONNECTION_KILLED|NEW_ABORTING)/,
  /^ER_(QUERY_INTERRUPTED|QUERY_TIMEOUT|STATEMENT_TIMEOUT|NET_|DISK_FULL|RECORD_FILE_FULL|OPTION_PREVENTS|READ_ONLY|OUT_OF)/,
];

/**
 * Turns a database error into a `StorageUnavailableError` where it is temporary; a `MessagingError` is returned unchanged.
 */
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

/** Drops the driver's error, as it holds parameters (texts, numbers), which must not be logged. */
function withoutParameters(cause: unknown, code: string | undefined): unknown {
  const bare = code === undefined && !(cause instanceof QueryFailedError);
  if (bare) return cause;
  return Object.assign(new Error(`The database refused a statement (${code ?? 'no code'}).`), { code });
}

/** The driver's error code, also of an error that TypeORM has wrapped. */
export function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  const code: unknown = Reflect.get(cause, 'code');
  return typeof code === 'string' ? code : codeOf(Reflect.get(cause, 'driverError'));
}
