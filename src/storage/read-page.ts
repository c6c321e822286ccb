import { MessagingError } from '../common/errors.js';
import { type Page, type PageRequest, withinPage } from '../common/listing/page.js';
import type { Dialect } from './dialect.js';
import { type Operation, type Row, rowsOf, type Statement } from './engine/operation.js';
import { integerOf, type ListingIndex } from './engine/rows.js';

/** A listing, the newest first. */
export interface Listing<T> {
  readonly table: string;
  /** The index in the order of the listing, if the planner might choose another one. */
  readonly index?: ListingIndex;
  readonly columns: string;
  /**
   * The size of a row in bytes, in SQL, for `MAX_PAGE_BYTES`. `bytesWith` makes it. Undefined if a full page of the
   * longest rows stays below that limit; `test/unit/storage/outbox/page-bytes.test.ts` fills such a page.
   */
  readonly bytes: string | undefined;
  /** The column with the time of a row. */
  readonly moment: string;
  /** Conditions of the listing; the row of the cursor must meet them too. */
  readonly filters: readonly Statement[];
  /** Further conditions, which the row of the cursor need not meet. */
  readonly shown?: readonly Statement[];
  toItem(row: Row): T;
}

/** The approximate size of a row in bytes, in SQL: the bytes of its texts that may be long, and 500 for the rest. */
export function bytesWith(...texts: readonly string[]): string {
  return [...texts.map((column) => `coalesce(octet_length(${column}), 0)`), '500'].join(' + ');
}

/**
 * Reads one page of a listing.
 *
 * @throws MessagingError `error.invalid_cursor` if `after` is not the id of a row of the listing
 */
export function* readPage<T extends { readonly id: string }>(
  dialect: Dialect,
  listing: Listing<T>,
  { limit, after }: PageRequest,
): Operation<Page<T>> {
  const { table, index, columns, bytes, moment, filters, shown = [], toItem } = listing;
  const hint = index === undefined ? '' : dialect.by(index);
  const rest = after === undefined ? [] : [yield* start(dialect, listing, after)];
  const where = and([...filters, ...shown, ...rest]);
  const read = (selected: string, most: number) =>
    rowsOf(
      `SELECT ${selected} FROM ${table}${hint}${where.sql === '' ? '' : ` WHERE ${where.sql}`} ORDER BY ${moment} DESC, id DESC LIMIT ?`,
      ...where.params,
      most,
    );
  const { rows, isLast } = yield* readRows(read, columns, bytes, limit);
  const items = rows.map(toItem);
  return { items, next: isLast ? undefined : items.at(-1)?.id };
}

/**
 * Reads the rows of a page, and finds out whether they are the last. If rows may be long, their sizes are read first,
 * so that no text is read that is not on the page.
 */
export function* readRows(
  read: (columns: string, most: number) => Operation<readonly Row[]>,
  columns: string,
  bytes: string | undefined,
  limit: number,
): Operation<{ readonly rows: readonly Row[]; readonly isLast: boolean }> {
  // One more row than the page has shows whether there is a next page.
  if (bytes === undefined) {
    const rows = yield* read(columns, limit + 1);
    return { rows: rows.slice(0, limit), isLast: rows.length <= limit };
  }
  const measured = yield* read(`${bytes} AS bytes`, limit + 1);
  const fitting = withinPage(measured.slice(0, limit), (row) => integerOf(row, 'bytes')).length;
  return { rows: fitting === 0 ? [] : yield* read(columns, fitting), isLast: fitting === measured.length };
}

/** Reads the row of the cursor. The page after an unknown row would be empty, which looks like the end of the listing. */
function* start<T>(dialect: Dialect, { table, moment, filters }: Listing<T>, id: string): Operation<Statement> {
  const where = and([{ sql: 'id = ?', params: [id] }, ...filters]);
  const [row] = yield* rowsOf(`SELECT ${moment} AS place FROM ${table} WHERE ${where.sql}`, ...where.params);
  if (!row) throw new MessagingError('error.invalid_cursor');
  return dialect.behind(moment, integerOf(row, 'place'), id);
}

/** Joins conditions by `AND`. */
export function and(conditions: readonly Statement[]): Statement {
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    params: conditions.flatMap(({ params }) => params),
  };
}
