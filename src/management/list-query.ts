import { checkInput, checkLimit } from '../common/inputs.js';
import { textOfCursor } from '../common/list-query.js';
import type { PageRequest } from '../common/page.js';
import { IsOptional, IsQueryInteger, IsString } from '../http/validators.js';

/** The page of a listing. */
export interface ListQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Query of a listing. */
export class PageQuery {
  @IsOptional()
  @IsQueryInteger(1, 500)
  readonly limit?: number;

  @IsOptional()
  @IsString()
  readonly cursor?: string;
}

/**
 * The page of a store.
 * @param isOurs whether a text may be in a cursor of the listing
 * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
 */
export function pageOf(query: ListQuery, isOurs: (text: string) => boolean): PageRequest {
  checkInput(query);
  const { limit = 50, cursor } = query;
  checkLimit(limit);
  return { limit, after: cursor === undefined ? undefined : textOfCursor(cursor, isOurs) };
}

/** A moment as views have it. */
export function isoOf(at: number): string;
export function isoOf(at: number | undefined): string | null;
export function isoOf(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
