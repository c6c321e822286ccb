import type { QueryRunner } from 'typeorm';
import type { Statement } from './operation.js';
import { runnerSession, type Session } from './session.js';

/** Types of the columns of our tables. */
export type ColumnType = 'id' | 'name' | 'text' | 'integer';

/** The columns of a list of rows that travels as one JSON parameter: an array of arrays. */
export type RowShape = Readonly<Record<string, 'text' | 'integer'>>;

/** A shape from the names of its text columns and, after them, of its integer columns. */
export function shapeOf(texts: string, integers: string): RowShape {
  const columns = (names: string, type: 'text' | 'integer') => names.split(' ').map((name) => [name, type] as const);
  return Object.fromEntries([...columns(texts, 'text'), ...columns(integers, 'integer')]);
}

/** What differs between databases. Everything else of our SQL is common to all of them. */
export abstract class Dialect {
  /** TypeORM's name of the driver. */
  abstract readonly driver: string;

  /** A column's type in `CREATE TABLE`; ids and names compare byte by byte. */
  abstract columnType(type: ColumnType): string;

  /** What follows `CREATE TABLE (…)` of a table that is only read by its primary key. */
  readonly clustered: string = '';

  /** Restricts an index to rows where `column` is not null, where the database can. */
  indexedOnly(column: string): string {
    return ` WHERE ${column} IS NOT NULL`;
  }

  /** How our own transactions reach the database over a connection of the pool. */
  session(runner: QueryRunner, _connection: unknown): Session {
    return runnerSession(runner, (statement) => this.native(statement));
  }

  /** A statement in the database's own placeholders. */
  abstract native(statement: Statement): Statement;

  /** A table expression, named `v`, over one JSON parameter `[[…], …]`. */
  abstract rows(shape: RowShape): string;

  /** A table expression, named `v`, over one JSON parameter `[[number, units], …]`: with `position`, from 0. */
  abstract numberedPairs(): string;

  /** An expression: the strings of one JSON parameter, for `IN (…)`. */
  abstract strings(): string;

  /** `FOR UPDATE` on one table's rows; empty where a writer holds the whole database. */
  abstract lock(alias: string, ifLocked: 'wait' | 'skip', strength?: 'update' | 'no key update'): string;

  /** Statements that do not depend on each other, in as few round trips as the database allows. */
  abstract together(statements: readonly Statement[]): readonly Statement[];

  /** Serialises migrations of several instances that start together. */
  abstract readonly migrationLock: readonly string[];

  /** Bounds how long a statement of this transaction waits for a row lock. */
  abstract readonly lockTimeout: readonly string[];
}
