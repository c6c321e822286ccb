import type { Page } from '../../common/page.js';

/** A page out of one row more than it may hold: the surplus tells that there is a next one. */
export function pageOf<T extends { readonly id: string }>(rows: readonly T[], limit: number): Page<T> {
  const items = rows.slice(0, limit);
  return { items, next: rows.length > limit ? items.at(-1)?.id : undefined };
}
