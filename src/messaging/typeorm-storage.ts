import type { InjectionToken } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { MessagingOptionsError } from '../common/errors.js';
import { SqlStorage, type SqlStorageOptions } from '../storage/sql-storage.js';
import { databaseLocation, providedDataSource } from '../storage/storage-checks.js';
import { SCHEMA } from './schema.js';

/** Options of `TypeormStorage.forRoot`. */
export type TypeormStorageOptions = Pick<SqlStorageOptions, 'migrations' | 'pooler' | 'dialect'> &
  (
    | { /** `sqlite:<path>`, `postgres://…` or `mysql://…` */ readonly url: string }
    | { /** The host's DataSource, or its injection token. */ readonly dataSource: DataSource | InjectionToken }
  );

/** The result of `TypeormStorage.forRoot`, for the option `storage`. */
export interface TypeormStorageSource {
  readonly inject?: { token: InjectionToken; optional: boolean }[];
  readonly useFactory: (database?: DataSource) => TypeormStorage;
}

/**
 * Storage in SQL through TypeORM: SQLite (better-sqlite3), PostgreSQL, MariaDB or MySQL, on the host's DataSource or
 * one of our own. The names of its tables begin with `messaging_`. Use the option `dialect` for another engine.
 *
 * @example
 * ```ts
 * MessagingModule.forRoot({ storage: TypeormStorage.forRoot({ url: 'postgres://app@localhost/app' }) });
 * MessagingModule.forRoot({ storage: TypeormStorage.forRoot({ dataSource: DataSource, migrations: 'check' }) });
 * ```
 */
export class TypeormStorage extends SqlStorage {
  /**
   * Makes the value of the option `storage`. The storage uses a connection of its own (`url`), or the host's
   * DataSource. Give the DataSource itself or its injection token (`DataSource` of `typeorm`, or
   * `getDataSourceToken('name')`).
   *
   * @throws MessagingOptionsError for unknown, contradictory or missing options
   */
  static forRoot(options: TypeormStorageOptions): TypeormStorageSource {
    const where = databaseLocation(options);
    const { migrations, pooler, dialect } = options;
    const settings = { migrations, pooler, dialect };
    if ('database' in where) return { useFactory: () => new TypeormStorage({ database: where.database, ...settings }) };
    const { token } = where;
    return {
      inject: [{ token, optional: true }],
      useFactory: (database?: DataSource) => {
        if (database) return new TypeormStorage({ database: providedDataSource(database, token), ...settings });
        throw new MessagingOptionsError(
          'Option storage names a DataSource that the application does not provide: import TypeOrmModule.forRoot, or give { url }.',
        );
      },
    };
  }

  /** @throws MessagingOptionsError for a missing or malformed database, or a wrong value of another setting */
  constructor(settings: SqlStorageOptions) {
    super(settings, SCHEMA);
  }
}
