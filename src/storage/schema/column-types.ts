import type { ColumnType, Dialect } from '../dialect.js';

/** The types of a database's columns, by our names. */
export function columnTypes(dialect: Dialect): Readonly<Record<ColumnType, string>> {
  return {
    id: dialect.columnType('id'),
    name: dialect.columnType('name'),
    text: dialect.columnType('text'),
    integer: dialect.columnType('integer'),
    small: dialect.columnType('small'),
    serial: dialect.columnType('serial'),
    bytes: dialect.columnType('bytes'),
  };
}
