/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The cursor of the next page. Null at the end. */
  readonly next_cursor: string | null;
  /**
   * Only in lists of messages. It is set if the search stopped before the page was full, because matches are rare: all
   * messages accepted after this time have been searched. Continue with `next_cursor`.
   */
  readonly searched_until?: string | null;
}

/**
 * A list of the API. `for await` goes through all of it, page by page; `page` asks for one page.
 *
 * ```ts
 * for await (const sms of client.sms.list({ status: 'failed' })) console.log(sms.smsID);
 * ```
 */
export class Listing<T, P extends { readonly items: readonly T[] } = Page<T>, C = string> implements AsyncIterable<T> {
  readonly #read: (cursor: C | undefined) => Promise<P>;
  readonly #next: (page: P) => C | null;

  /**
   * @param read reads one page
   * @param next returns the cursor of the page after a page, or null for the last page
   */
  constructor(read: (cursor: C | undefined) => Promise<P>, next: (page: P) => C | null) {
    this.#read = read;
    this.#next = next;
  }

  /** @param cursor the `next_cursor` of an earlier page. Default: the first page */
  page(cursor?: C): Promise<P> {
    return this.#read(cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    for (let cursor: C | undefined | null; cursor !== null; ) {
      const page = await this.page(cursor);
      yield* page.items;
      cursor = this.#next(page);
    }
  }
}
