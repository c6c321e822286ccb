import type { Row } from './operation.js';

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
