/** See `serial-context.mjs`. */
export class SerialContext<T> {
  getStore(): T | undefined;
  run<R>(store: T, callback: () => R): R;
}
