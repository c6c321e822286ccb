import { createHash } from 'node:crypto';

/** Bytes that are different everywhere, from a seed. */
export function bytes(size: number, seed = 1): Buffer {
  return createHash('shake128', { outputLength: size }).update(`${seed}`).digest();
}

/** The bytes in chunks of these sizes, over and over; each chunk's memory is filled again when the next one is asked for. */
export async function* inChunks(whole: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  const memory = new Uint8Array(Math.max(...sizes));
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const chunk = whole.subarray(at, at + (sizes[turn % sizes.length] ?? 1));
    memory.fill(0).set(chunk);
    yield memory.subarray(0, chunk.length);
    at += chunk.length;
  }
}

/** SHA-256 of what comes, hex. */
export async function digest(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** SHA-256, hex. */
export function digestOf(whole: Uint8Array): string {
  return createHash('sha256').update(whole).digest('hex');
}
