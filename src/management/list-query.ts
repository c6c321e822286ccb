import { checkInput, checkLimit } from '../common/inputs.js';
import { momentOf, textOfCursor } from '../common/listing/list-query.js';
import type { PageRequest } from '../common/listing/page.js';
import { IsOptional, IsQueryInteger, IsString } from '../http/validators.js';

/** The page of a listing to read. */
export interface ListQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The period of a listing. */
export interface Period {
  /** Only items from this moment on: ISO 8601, a day (UTC) or a time with its zone. */
  readonly since?: string | undefined;
  /** Only items before this moment. */
  readonly until?: string | undefined;
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

/** Query of a listing of a period. The service checks the moments. */
export class PeriodPageQuery extends PageQuery {
  @IsOptional()
  @IsString()
  readonly since?: string;

  @IsOptional()
  @IsString()
  readonly until?: string;
}

/**
 * Returns the page to read from a store.
 * @param isOurs whether a text may be in a cursor of the listing
 * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
 */
export function pageOf(query: ListQuery, isOurs: (text: string) => boolean): PageRequest {
  checkInput(query);
  const { limit = 50, cursor } = query;
  checkLimit(limit);
  return { limit, after: cursor === undefined ? undefined : textOfCursor(cursor, isOurs) };
}

/** Returns the moments of a period. @throws MessagingError `error.field_invalid` */
export function periodOf({ since, until }: Period) {
  return { since: momentOf('since', since), until: momentOf('until', until) };
}
