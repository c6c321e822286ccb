import type { DataSource, QueryRunner } from 'typeorm';
import { StorageUnavailableError } from '../../common/errors.js';
import type { HostTransaction } from '../../common/host-transaction.js';
import type { Dialect } from '../dialect.js';
import { runOn } from './connection.js';
import { drive, type Operation } from './operation.js';
import { isEntityManager } from './typeorm-objects.js';

/**
 * Returns the query runner of a host's open transaction.
 *
 * @throws StorageUnavailableError if `host` has no open transaction on this DataSource
 */
export function openRunner(host: HostTransaction, dataSource: DataSource): QueryRunner {
  const runner = isEntityManager(host.manager) ? host.manager.queryRunner : undefined;
  if (!runner?.isTransactionActive || dataSourceOf(runner) !== dataSource) {
    throw new StorageUnavailableError(
      'The manager of { host: { manager } } must be the EntityManager of an open TypeORM transaction on the storage’s DataSource.',
    );
  }
  return runner;
}

/** The DataSource of a query runner. In TypeORM 0.3 the property is `connection`, which TypeORM 1 deprecates. */
function dataSourceOf(runner: QueryRunner): unknown {
  return 'dataSource' in runner ? runner.dataSource : Reflect.get(runner, 'connection');
}

/** Runs an operation statement by statement on a query runner, in the transaction that is open there. */
export function driveOn<T>(runner: QueryRunner, dialect: Dialect, operation: Operation<T>): Promise<T> {
  return drive(operation, (statement) => runOn(runner, dialect.native(statement)));
}
