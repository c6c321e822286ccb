/** One page of a listing; newest first unless the method says otherwise. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The `after` of the next page; undefined at the end. */
  readonly next: string | undefined;
}

/**
 * The approximate maximum size of a page, in bytes of texts. A page ends before the item that would exceed this size,
 * so it may have fewer items than its limit and still have a `next`. It has at least one item.
 */
export const MAX_PAGE_BYTES = 1_000_000;

/** Returns the first items, as many as fit into `MAX_PAGE_BYTES`, but at least one. */
export function withinPage<T>(items: readonly T[], bytesOf: (item: T) => number): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += bytesOf(item);
    return index > 0 && bytes > MAX_PAGE_BYTES;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** The requested page. */
export interface PageRequest {
  /** The maximum number of items of the page. */
  readonly limit: number;
  /** The `next` of the previous page; undefined for the first page. */
  readonly after?: string | undefined;
}
