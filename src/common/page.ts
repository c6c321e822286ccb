/** One page of a listing, newest first. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page starts; undefined at the end. */
  readonly next: string | undefined;
}

/** Which page is wanted. */
export interface PageRequest {
  /** At most so many items. */
  readonly limit: number;
  /** The `next` of the page before; undefined for the first page. */
  readonly after?: string | undefined;
}
