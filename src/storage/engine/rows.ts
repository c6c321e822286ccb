import type { Row } from './operation.js';

/** The columns of a list of rows that is one JSON parameter (an array of arrays). An `id` is a short text. */
export type RowShape = Readonly<Record<string, 'id' | 'text' | 'integer'>>;

/** Makes a shape from the names of its text columns, followed by its integer columns. */
export function shapeOf(texts: string, integers: string): RowShape {
  const columns = (names: string, type: 'text' | 'integer') => names.split(' ').map((name) => [name, type] as const);
  return Object.fromEntries([...columns(texts, 'text'), ...columns(integers, 'integer')]);
}

/** An update of many rows in one statement, each with values of its own. */
export interface RowsUpdate {
  readonly table: string;
  /** An expression for each column; `v` is the row that `on` joins. */
  readonly set: Readonly<Record<string, string>>;
  /** The parameters of the expressions in `set`. */
  readonly params?: readonly unknown[];
  /** The columns of `v`, and its rows. */
  readonly shape: RowShape;
  readonly rows: readonly (readonly unknown[])[];
  readonly on: string;
}

/** An update of rows by their storage locations. */
export interface PlacesUpdate extends Required<Pick<RowsUpdate, 'table' | 'set' | 'params'>> {
  readonly places: readonly string[];
}

/** A delete of many rows in one statement, by the rows `v` that `on` joins. */
export interface RowsDelete extends Pick<RowsUpdate, 'table' | 'shape' | 'rows' | 'on'> {
  /** The index that `on` uses. Default: the primary key. */
  readonly index?: 'messaging_trail_attempt';
}

/** An insert of many rows in one statement. */
export interface RowsInsert {
  readonly table: string;
  /** An expression for each column; `v` is the row. Default: the columns of the shape, unchanged. */
  readonly values?: Readonly<Record<string, string>>;
  /** The columns of `v`, and its rows. */
  readonly shape: RowShape;
  readonly rows: readonly (readonly unknown[])[];
  /** If the key exists, only the columns of `replace` are updated. If this is left out, an existing key is an error. */
  readonly onDuplicate?: readonly [key: string, replace?: readonly string[]];
}

/** A query that locks the first row of each of several groups. `r` is the table's alias. */
export interface FirstRows {
  readonly columns: string;
  readonly table: string;
  /** The primary key's columns. */
  readonly key: readonly string[];
  /** The columns that identify a group. */
  readonly group: RowShape;
  readonly order: readonly string[];
  /** The index that is in the order of `group`, then `order`. */
  readonly index: RecipientIndex;
  /** A condition that must still be true when the row is locked. */
  readonly still: string;
}

/**
 * A query that locks the first rows of several ranges. Rows that another transaction has locked are skipped. `r` is the
 * table's alias.
 */
export interface RangeLocks {
  readonly columns: string;
  readonly table: string;
  /** The index that is in the order of the conditions, then `order`. */
  readonly index: RecipientIndex;
  /** The conditions of a range, with its columns as `v.…`. They use nothing else and have no parameters. */
  readonly where: string;
  readonly order: string;
  /** The columns of `v`. One of them is `take`, the most rows to lock. */
  readonly shape: RowShape;
  readonly ranges: readonly (readonly unknown[])[];
}

/**
 * A query for the groups of a table between `v.first` and `v.below`, at most `v.most`, in their order, with the least
 * value of each. A group without a value up to the given one may be left out. `r` is the table's alias.
 */
export interface GroupSearch {
  /** Further columns of `v`. */
  readonly columns: string;
  readonly table: string;
  /** The index that is in the order of `equal`, `group`, `value`. */
  readonly index: RecipientIndex;
  /** The columns that have the same values in all groups. */
  readonly equal: readonly string[];
  /** The conditions on these columns. */
  readonly where: string;
  readonly group: string;
  readonly value: string;
  readonly until: string;
}

/** An index of the recipients. */
export type RecipientIndex = 'messaging_recipient_queue' | 'messaging_recipient_turn' | 'messaging_recipient_reference';

/** An index of listings. */
export type ListingIndex =
  | 'messaging_message_listing'
  | 'messaging_message_scheduled'
  | 'messaging_trail_attempt'
  | 'messaging_event_type'
  | 'messaging_ledger_account'
  | 'messaging_ledger_kind'
  | 'messaging_audit_account_at'
  | 'messaging_audit_action_at'
  | 'messaging_audit_at'
  | 'messaging_endpoint_url';

/** An index of the sessions. */
export type SessionIndex = 'messaging_session_account' | 'messaging_session_live';

/** The columns of a shape, unchanged. */
export function asTheyAre(shape: RowShape): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(shape).map((name) => [name, `v.${name}`]));
}

/** Reads a text column. Drivers return different JavaScript types, so the value is converted to a text. */
export function textOf(row: Row, column: string): string {
  return String(row[column]);
}

/** Reads a nullable text column. */
export function optionalText(row: Row, column: string): string | undefined {
  const value = row[column];
  return value === null || value === undefined ? undefined : String(value);
}

/** Reads a column of bytes. */
export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (value instanceof Uint8Array) return value;
  throw new Error(`Column ${column} holds no bytes.`);
}

/** Reads an integer column. `pg` returns a bigint as a string. */
export function integerOf(row: Row, column: string): number {
  return Number(row[column]);
}

/** Reads a nullable integer column. */
export function optionalInteger(row: Row, column: string): number | undefined {
  const value = row[column];
  return value === null || value === undefined ? undefined : Number(value);
}

/** A part of a list. */
export interface Slice<T> {
  /** The number of items before it in the list. */
  readonly from: number;
  readonly items: readonly T[];
}

/** Divides a list into parts of at most `size` items. */
export function slicesOf<T>(items: readonly T[], size: number): Slice<T>[] {
  if (items.length <= size) return [{ from: 0, items }];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) => ({
    from: index * size,
    items: items.slice(index * size, (index + 1) * size),
  }));
}
