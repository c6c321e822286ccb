/**
 * Options of an `LRUCache` that holds so many entries, each for `ttl` milliseconds, and takes memory for those it has. With
 * its option `max` it takes all of it at once: some 200 kB for 5000, in each session.
 */
export function upTo(entries: number, ttl: number) {
  return { maxSize: entries, sizeCalculation: () => 1, ttl };
}
