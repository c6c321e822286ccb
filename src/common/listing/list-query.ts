import { MessagingError } from '../errors.js';

/** The cursor of the next page; null at the end. */
export function cursorOf(next: string | number | undefined): string | null {
  return next === undefined ? null : Buffer.from(String(next)).toString('base64url');
}

/** The `searched_until` of a page: how far back the search went if it stopped before the page was full; otherwise null. */
export function searchedUntilOf({ searchedUntil }: { readonly searchedUntil?: number }): string | null {
  return searchedUntil === undefined ? null : new Date(searchedUntil).toISOString();
}

/**
 * Returns the text in a cursor that {@link cursorOf} has made.
 * @throws MessagingError `error.invalid_cursor`
 */
export function textOfCursor(cursor: unknown, isOurs: (text: string) => boolean): string {
  const text = typeof cursor === 'string' ? Buffer.from(cursor, 'base64url').toString() : '';
  if (isOurs(text) && cursorOf(text) === cursor) return text;
  throw new MessagingError('error.invalid_cursor');
}

const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads the time of a filter: ISO 8601, either a day (UTC) or a time with its zone. Returns milliseconds since the
 * epoch.
 * @throws MessagingError `error.field_invalid`
 */
export function momentOf(field: string, text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const moment = typeof text === 'string' && MOMENT.test(text) && isDay(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(moment)) throw new MessagingError('error.field_invalid', { field });
  return moment;
}

/** Whether the day exists; `Date.parse` reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const day = text.slice(0, 10);
  const moment = Date.parse(day);
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(day);
}
