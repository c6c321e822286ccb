import { BEGIN } from '../../../src/storage/engine/connection.js';
import type { Recorded } from './recorded-statements.js';

/** One connection to PostgreSQL. */
interface Connection {
  query(sql: string, params?: unknown[]): Promise<{ readonly rows: readonly object[] }>;
}

/** A step of a plan that PostgreSQL has run. */
interface Step {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly Step[];
}

/** How a statement was executed. */
export interface Explained {
  readonly sql: string;
  /** The number of rows that were read from tables, or compared by a join, and then not used. */
  readonly wasted: number;
  /** The number of rows that were read from tables and used. */
  readonly used: number;
  /** Indexes that were read from end to end, because the condition is not on their first column. */
  readonly readWhole: readonly string[];
  readonly compiled: boolean;
  readonly plan: string;
}

/**
 * Statements that one connection has planned, and keeps executing with those plans. For the statements of our
 * transactions, the cost above which the server compiles is 0, so only the settings of the transaction prevent it.
 */
export class PlannedStatements {
  private constructor(
    private readonly connection: Connection,
    private readonly names: ReadonlyMap<string, Recorded>,
    private readonly firstColumns: ReadonlyMap<string, string>,
  ) {}

  /** Plans statements for the present tables, without their values. */
  static async plan(connection: Connection, statements: Iterable<Recorded>): Promise<PlannedStatements> {
    const names = new Map<string, Recorded>();
    for (const statement of statements) {
      const name = `s${names.size}`;
      await connection.query(`PREPARE ${name} AS ${statement.sql}`);
      names.set(name, statement);
    }
    const { rows } = await connection.query(`SELECT c.relname AS index, pg_get_indexdef(i.indexrelid, 1, true) AS column
      FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'messaging\\_%'`);
    const columnOf = (row: object) => [Reflect.get(row, 'index'), Reflect.get(row, 'column')] as const;
    const planned = new PlannedStatements(connection, names, new Map(rows.map(columnOf)));
    await planned.each('EXPLAIN', async () => undefined);
    return planned;
  }

  /** Executes all of them and rolls them back. */
  async run(): Promise<readonly Explained[]> {
    const all: Explained[] = [];
    await this.each('EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON)', async ({ sql }, [row]) => {
      const [explained] = Reflect.get(Object(row), 'QUERY PLAN') as [{ Plan: Step; JIT?: object }];
      const steps = stepsOf(explained.Plan);
      const sum = (of: (step: Step) => number) => steps.reduce((all, step) => all + of(step), 0);
      all.push({
        sql,
        wasted: sum(wastedBy),
        used: sum((step) => (step['Relation Name'] === undefined ? 0 : step['Actual Rows'] * step['Actual Loops'])),
        readWhole: steps.flatMap((step) => (this.isReadWhole(step) ? [step['Index Name'] ?? ''] : [])),
        compiled: explained.JIT !== undefined,
        plan: JSON.stringify(explained.Plan),
      });
    });
    return all;
  }

  private isReadWhole({ 'Index Name': index, 'Index Cond': condition }: Step): boolean {
    if (index === undefined || condition === undefined) return false;
    return !new RegExp(`\\b${this.firstColumns.get(index)}\\b`).test(condition);
  }

  private async each(
    how: string,
    look: (statement: Recorded, rows: readonly object[]) => Promise<unknown>,
  ): Promise<void> {
    for (const [name, statement] of this.names) {
      await this.connection.query(statement.inTransaction ? BEGIN : 'BEGIN');
      await this.connection.query('SET LOCAL plan_cache_mode = force_generic_plan');
      if (statement.inTransaction) await this.connection.query('SET LOCAL jit_above_cost = 0');
      try {
        const given = statement.params.map((value) => literalOf(value)).join(', ');
        const { rows } = await this.connection.query(`${how} EXECUTE ${name}${given === '' ? '' : ` (${given})`}`);
        await look(statement, rows);
      } catch (error) {
        // A row of the statement already exists, so what it reads does not matter.
        if (Reflect.get(Object(error), 'code') !== '23505') throw error;
      } finally {
        await this.connection.query('ROLLBACK');
      }
    }
  }
}

function stepsOf(step: Step): Step[] {
  return [step, ...(step.Plans ?? []).flatMap(stepsOf)];
}

function wastedBy(step: Step): number {
  const removed =
    (step['Rows Removed by Filter'] ?? 0) +
    (step['Rows Removed by Join Filter'] ?? 0) +
    (step['Rows Removed by Index Recheck'] ?? 0);
  return removed * step['Actual Loops'];
}

function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return `'{${value.map((each) => `"${String(each)}"`).join(',')}}'`;
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'`;
  return `'${String(value).replaceAll("'", "''")}'`;
}
