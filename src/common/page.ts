/** One page of a listing; newest first unless the method says otherwise. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The `after` of the next page; undefined at the end. */
  readonly next: string | undefined;
}

/** The requested page. */
export interface PageRequest {
  /** The most items of the page. */
  readonly limit: number;
  /** The `next` of the previous page; undefined for the first page. */
  readonly after?: string | undefined;
}
