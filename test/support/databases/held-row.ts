import { DataSource, type QueryRunner } from 'typeorm';
import { until } from '../common/until.js';
import { createMariadbDatabase } from './mariadb.js';
import { createPostgresDatabase } from './postgres.js';

/** A database server on which rows are locked one by one. */
export interface LockingServer {
  readonly type: 'postgres' | 'mysql';
  readonly port: number;
  create(): Promise<{ readonly url: string; drop(): Promise<void> }>;
}

export const LOCKING_SERVERS: Readonly<Record<string, LockingServer>> = {
  PostgreSQL: { type: 'postgres', port: 5432, create: createPostgresDatabase },
  MariaDB: { type: 'mysql', port: 3306, create: createMariadbDatabase },
};

/**
 * How many connections to this database wait for a lock. MariaDB's own table of transactions shows outdated contents if
 * it is read more than ten times a second.
 */
const WAITING = {
  postgres: `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  mysql: `SELECT count(*) AS n FROM information_schema.processlist
    WHERE db = DATABASE() AND info LIKE '%FOR UPDATE WAIT%' AND info NOT LIKE '%processlist%'`,
};

/** A row that a test's own transaction locks, and a count of those that wait for it. */
export class HeldRow {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly runner: QueryRunner,
    private readonly type: LockingServer['type'],
  ) {}

  static async hold({ type }: LockingServer, url: string, table: string, id: string): Promise<HeldRow> {
    const dataSource = await new DataSource({ type, url }).initialize();
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    const rows: unknown = await runner.query(`SELECT id FROM ${table} WHERE id = '${id}' FOR UPDATE`);
    if (!Array.isArray(rows) || rows.length !== 1) throw new Error(`There is no row ${id} in ${table}.`);
    return new HeldRow(dataSource, runner, type);
  }

  async waiting(): Promise<number> {
    const [row] = await this.dataSource.query(WAITING[this.type]);
    return Number(row.n);
  }

  /** Resolves when some connection waits. */
  async awaited(): Promise<void> {
    await until(
      () => this.waiting(),
      (count) => count > 0,
    );
  }

  async release(): Promise<void> {
    if (this.runner.isTransactionActive) await this.runner.rollbackTransaction();
  }

  async close(): Promise<void> {
    await this.release();
    await this.runner.release();
    await this.dataSource.destroy();
  }
}
