/**
 * Limits an `LRUCache` by its number of entries and lets its memory grow with them. The cache's own option `max` allocates
 * memory for all entries at once. Over all caches of an application that costs megabytes and milliseconds at the start.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
