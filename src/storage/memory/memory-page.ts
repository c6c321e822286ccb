import { MessagingError } from '../../common/errors.js';
import type { Page, PageRequest } from '../../common/page.js';

interface Dated {
  readonly id: string;
  readonly at: number;
}

/** One page of `rows`, newest first; of two of the same moment the greater id counts as newer. @throws MessagingError `error.invalid_cursor` when `after` is none of them */
export function memoryPage<T extends Dated>(
  rows: readonly T[],
  { limit, after }: PageRequest,
  isShown: (row: T) => boolean = () => true,
): Page<T> {
  const sorted = [...rows].sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const last = sorted.findIndex((row) => row.id === after);
  if (after !== undefined && last < 0) throw new MessagingError('error.invalid_cursor');
  const rest = sorted.slice(last + 1).filter(isShown);
  const items = rest.slice(0, limit);
  return { items, next: rest.length > items.length ? items.at(-1)?.id : undefined };
}
