import type { Row } from './operation.js';

/** The columns of a list of rows that travels as one JSON parameter: an array of arrays. An `id` is a short text. */
export type RowShape = Readonly<Record<string, 'id' | 'text' | 'integer'>>;

/** A shape from the names of its text columns and, after them, of its integer columns. */
export function shapeOf(texts: string, integers: string): RowShape {
  const columns = (names: string, type: 'text' | 'integer') => names.split(' ').map((name) => [name, type] as const);
  return Object.fromEntries([...columns(texts, 'text'), ...columns(integers, 'integer')]);
}

/** An update of many rows at once, each with values of its own. */
export interface RowsUpdate {
  readonly table: string;
  /** An expression for each column; there `v` is the row that `on` joins with it. */
  readonly set: Readonly<Record<string, string>>;
  /** The parameters in `set`. */
  readonly params?: readonly unknown[];
  /** The columns of `v`, and its rows. */
  readonly shape: RowShape;
  readonly rows: readonly (readonly unknown[])[];
  readonly on: string;
}

/** An insert of many rows at once. */
export interface RowsInsert {
  readonly table: string;
  /** An expression for each column; there `v` is the row. Left out: the shape's columns, each as it is. */
  readonly values?: Readonly<Record<string, string>>;
  /** The columns of `v`, and its rows. */
  readonly shape: RowShape;
  readonly rows: readonly (readonly unknown[])[];
  /** What happens where the key exists, it stays as it is, but for the columns that are replaced; left out, that is a fault. */
  readonly onDuplicate?: readonly [key: string, replace?: readonly string[]];
}

/** A query for the first row of each of several groups, to be locked. `r` is the table's alias. */
export interface FirstRows {
  readonly columns: string;
  readonly table: string;
  /** The primary key's columns. */
  readonly key: readonly string[];
  /** The columns whose values make a group. */
  readonly group: RowShape;
  readonly order: readonly string[];
  /** The index that has the groups in that order. */
  readonly index: RecipientIndex;
  /** What must be true still when the row can be had. */
  readonly still: string;
}

/** An index of the recipients. */
export type RecipientIndex = 'messaging_recipient_due' | 'messaging_recipient_turn';

/** An index of listings. */
export type ListingIndex = 'messaging_message_listing' | 'messaging_trail_attempt';

/** An index of the sessions. */
export type SessionIndex = 'messaging_session_account' | 'messaging_session_live';

/** The columns of a shape, each as it is. */
export function asTheyAre(shape: RowShape): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, `v.${name}`]));
}

/** A column as text; drivers differ in what they give, so each value is read by what we know of its column. */
export function textOf(row: Row, column: string): string {
  return String(row[column]);
}

/** A text column that may be null. */
export function optionalText(row: Row, column: string): string | undefined {
  const value = row[column];
  return value === null || value === undefined ? undefined : String(value);
}

/** A column of bytes. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  throw new Error(`Column ${column} holds no bytes.`);
}

/** An integer column; PostgreSQL gives bigint as text. */
export function integerOf(row: Row, column: string): number {
  return Number(row[column]);
}

/** An integer column that may be null. */
export function optionalInteger(row: Row, column: string): number | undefined {
  const value = row[column];
  return value === null || value === undefined ? undefined : Number(value);
}
