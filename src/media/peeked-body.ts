/**
 * Reads the first bytes of a body and hands on all of it.
 * @param bytes how many to look at; `head` has fewer when the body does
 * @throws whatever the body throws
 */
export async function peek(
  source: AsyncIterable<Uint8Array>,
  bytes: number,
): Promise<{ readonly head: Uint8Array; readonly body: AsyncIterable<Uint8Array> }> {
  const rest = source[Symbol.asyncIterator]();
  const seen: Uint8Array[] = [];
  let size = 0;
  while (size < bytes) {
    const { done, value } = await rest.next();
    if (done) break;
    seen.push(value);
    size += value.length;
  }
  return { head: Buffer.concat(seen).subarray(0, bytes), body: new PeekedBody(seen, rest) };
}

/** Not a generator: one that was never started would not pass `return` on, and the connection behind it would stay. */
class PeekedBody implements AsyncIterableIterator<Uint8Array> {
  constructor(
    private readonly seen: Uint8Array[],
    private readonly rest: AsyncIterator<Uint8Array>,
  ) {}

  async next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.seen.shift();
    return value === undefined ? this.rest.next() : { done: false, value };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.seen.length = 0;
    await this.rest.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
