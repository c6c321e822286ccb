import { PRIORITIES, type Priority } from './priority.api.js';

/** Waiting items, ordered by priority, and within a priority by their arrival. */
export class PriorityQueue<T> {
  private readonly lists: T[][] = PRIORITIES.map(() => []);

  /** @param priorityOf undefined counts as `normal` */
  constructor(private readonly priorityOf: (item: T) => Priority | undefined) {}

  get size(): number {
    return this.lists.reduce((size, { length }) => size + length, 0);
  }

  /** The next item, which stays in the queue. */
  get first(): T | undefined {
    return this.lists.find(({ length }) => length > 0)?.[0];
  }

  push(item: T): void {
    this.listOf(item).push(item);
  }

  /** Adds an item before all others of its priority. */
  putBack(item: T): void {
    this.listOf(item).unshift(item);
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    return this.lists.find(({ length }) => length > 0)?.shift();
  }

  /** Removes and returns the item whose turn would come last. */
  pop(): T | undefined {
    return this.lists.findLast(({ length }) => length > 0)?.pop();
  }

  /** Removes and returns the items that match, in the order of their turns. */
  remove(matches: (item: T) => boolean): readonly T[] {
    const removed = this.lists.flatMap((list) => list.filter(matches));
    if (removed.length === 0) return removed;
    for (const [index, list] of this.lists.entries()) this.lists[index] = list.filter((item) => !matches(item));
    return removed;
  }

  private listOf(item: T): T[] {
    const list = this.lists[PRIORITIES.indexOf(this.priorityOf(item) ?? 'normal')];
    if (list === undefined) throw new RangeError('There is no such priority.');
    return list;
  }
}
