import type { DataSource, EntityManager } from 'typeorm';

/**
 * Whether a value is a DataSource. This reads TypeORM's own mark, because TypeORM would have to be loaded to compare
 * the class.
 */
export function isDataSource(value: unknown): value is DataSource {
  return isMarked(value, 'DataSource');
}

/** As {@link isDataSource}, for an EntityManager. */
export function isEntityManager(value: unknown): value is EntityManager {
  return isMarked(value, 'EntityManager');
}

/** Whether a value is an error of a statement. Such an error contains the statement's parameters. */
export function isQueryFailure(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'driverError' in value;
}

function isMarked(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, '@instanceof') === Symbol.for(name);
}
