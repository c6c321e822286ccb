/**
 * The bound of an `LRUCache` that grows with what it holds. Its `max` would allocate for all entries at once, which for all
 * caches of an application is megabytes and milliseconds at its start.
 */
export function atMost(entries: number): { maxSize: number; sizeCalculation: () => number } {
  return { maxSize: entries, sizeCalculation: () => 1 };
}
