/** Wraps `compute` so that it runs at the first call only; later calls return the same value. */
export function once<T extends object>(compute: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= compute();
    return value;
  };
}
