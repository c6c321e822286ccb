/**
 * The same bytes in pieces of `size`, the last one shorter. Takes from `source` only what the piece that was asked for
 * needs. A piece is good until the next one is asked for: then its memory is filled again.
 */
export async function* evenChunks(source: AsyncIterable<Uint8Array>, size: number): AsyncIterable<Buffer> {
  const piece = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  for await (const chunk of source) {
    let taken = 0;
    while (taken < chunk.length) {
      const part = chunk.subarray(taken, taken + size - filled);
      piece.set(part, filled);
      taken += part.length;
      filled += part.length;
      if (filled < size) continue;
      yield piece;
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}
