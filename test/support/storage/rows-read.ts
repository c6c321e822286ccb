import { DataSource } from 'typeorm';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { BEGIN } from '../../../src/storage/engine/connection.js';
import type { Statement } from '../../../src/storage/engine/operation.js';
import { eventually } from '../common/eventually.js';
import { connectPostgres } from '../databases/postgres.js';

/** Counts what a database reads during some work. */
export type RowsRead = (work: () => Promise<unknown>) => Promise<number>;

/** One connection, which returns rows. */
interface Connection {
  query<R>(sql: string, params?: unknown[]): Promise<R>;
}

/** A storage on one connection, so that the server's counters are those of the storage. */
export async function openCounted(
  type: 'postgres' | 'mysql',
  url: string,
): Promise<{ readonly source: DataSource; readonly storage: TypeormStorage; close(): Promise<void> }> {
  // A connection that ends reports its counters to PostgreSQL.
  const extra = type === 'postgres' ? { max: 1, idleTimeoutMillis: 1 } : { connectionLimit: 1 };
  const source = await new DataSource({ type, url, extra }).initialize();
  const storage = new TypeormStorage({ database: source });
  await storage.start();
  const close = async () => {
    await storage.stop();
    await source.destroy();
  };
  return { source, storage, close };
}

/**
 * Counts what PostgreSQL has read on connections that have ended since, beside one that is idle in a transaction.
 * @param counter a statement that gives the count so far, as `read`
 */
export async function postgresReads(
  url: string,
  counter: string,
): Promise<{ rowsRead: RowsRead; close(): Promise<void> }> {
  const observer = await connectPostgres(url);
  const others = async () => {
    const { rows } = await observer.query(`SELECT count(*)::int AS many FROM pg_stat_activity
      WHERE datname = current_database() AND backend_type = 'client backend' AND state <> 'idle in transaction'
        AND pid <> pg_backend_pid()`);
    return Number(rows[0]?.many);
  };
  const count = async () => {
    await eventually(others, (many) => many === 0);
    const { rows } = await observer.query(counter);
    return Number(rows[0]?.read);
  };
  const rowsRead = async (work: () => Promise<unknown>) => {
    const before = await count();
    await work();
    return (await count()) - before;
  };
  return { rowsRead, close: () => observer.close() };
}

/** A counter of the rows and index entries of tables, for `postgresReads`. */
export function rowsOf(...tables: readonly string[]): string {
  return `SELECT sum(seq_tup_read + coalesce(
      (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)) AS read
    FROM pg_stat_user_tables t WHERE relname IN (${tables.map((table) => `'${table}'`).join(', ')})`;
}

/** Counts the rows and index entries that MariaDB reads on the connection that does the work. */
export function mariadbReads(connection: Connection): RowsRead {
  return handlerReads(connection, "Variable_name LIKE 'Handler_read%'");
}

/** Counts what MariaDB reads for statements, without the rows of sorted and temporary results. */
export function mariadbReadsOf(connection: Connection, statements: readonly Statement[]): Promise<number> {
  const count = handlerReads(connection, "Variable_name LIKE 'Handler_read%' AND Variable_name NOT LIKE '%rnd%'");
  return count(async () => {
    for (const { sql, params } of statements) await connection.query(sql, [...params]);
  });
}

function handlerReads(connection: Connection, which: string): RowsRead {
  return async (work) => {
    await connection.query('FLUSH STATUS');
    await work();
    const counts = await connection.query<{ readonly Value: string }[]>(`SHOW SESSION STATUS WHERE ${which}`);
    return counts.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
}

/** A step of an executed PostgreSQL plan. */
interface Step {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Step[];
}

/** Executes statements on PostgreSQL in one transaction, and counts the rows that their plans read from our tables. */
export async function postgresReadsOf(connection: Connection, statements: readonly Statement[]): Promise<number> {
  let read = 0;
  await connection.query(BEGIN);
  for (const { sql, params } of statements) {
    const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`;
    const [row] = await connection.query<{ readonly 'QUERY PLAN': readonly [{ readonly Plan: Step }] }[]>(explained, [
      ...params,
    ]);
    if (row) read += readBy(row['QUERY PLAN'][0].Plan);
  }
  await connection.query('COMMIT');
  return read;
}

function readBy(step: Step): number {
  const isOurs = step['Relation Name']?.startsWith('messaging_') === true;
  const own = isOurs ? step['Actual Rows'] + (step['Rows Removed by Filter'] ?? 0) : 0;
  return own * step['Actual Loops'] + (step.Plans ?? []).reduce((sum, each) => sum + readBy(each), 0);
}
