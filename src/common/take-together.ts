/**
 * Takes from the front of a queue what is done in one go: at least one item, else as many as stay within the limits.
 * @param sizeOf what an item counts against `mostSize`
 */
export function takeTogether<T>(
  queue: T[],
  sizeOf: (item: T) => number,
  mostSize: number,
  mostItems = Number.POSITIVE_INFINITY,
): T[] {
  let size = 0;
  const end = queue.findIndex((item, index) => {
    size += sizeOf(item);
    return size > mostSize || index >= mostItems;
  });
  return queue.splice(0, end === -1 ? queue.length : Math.max(end, 1));
}
