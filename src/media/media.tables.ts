import type { Dialect } from '../storage/dialect.js';
import { columnTypes } from '../storage/schema/column-types.js';

/** The tables of the files of messages. */
export function mediaTables(dialect: Dialect): string[] {
  const { id, integer, bytes } = columnTypes(dialect);
  return [
    // chunks: the number of the file's chunks; null while the file is written, -1 while it is removed.
    `CREATE TABLE messaging_media (
      id ${id} NOT NULL PRIMARY KEY, kept_at ${integer} NOT NULL, chunks ${integer})${dialect.clustered}`,
    'CREATE INDEX messaging_media_age ON messaging_media (kept_at)',

    // The table is not clustered, because its rows are large.
    `CREATE TABLE messaging_media_chunk (
      media_id ${id} NOT NULL, place ${integer} NOT NULL, content ${bytes} NOT NULL, PRIMARY KEY (media_id, place))`,
  ];
}
