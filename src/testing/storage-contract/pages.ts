import assert from 'node:assert/strict';
import type { Page, PageRequest } from '../../common/page.js';

/** Reads a listing to its end and answers the ids of each page; `between` runs after every page, counted from 0. */
export async function pages(
  read: (page: PageRequest) => Promise<Page<{ id: string }>>,
  limit: number,
  between?: (turn: number) => Promise<unknown>,
): Promise<string[][]> {
  const seen: string[][] = [];
  let after: string | undefined;
  do {
    const { items, next } = await read({ limit, after });
    seen.push(items.map(({ id }) => id));
    await between?.(seen.length - 1);
    after = next;
    assert.ok(seen.length < 100, 'the listing ends');
  } while (after !== undefined);
  return seen;
}
