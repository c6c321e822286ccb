/** Looks again and again until it is so; fails with the last thing seen when that takes too long. */
export async function until<T>(look: () => T | Promise<T>, isSo: (seen: T) => boolean, limitMs = 15_000): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`Still not so after ${limitMs} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Lets everything go on that can go on without time passing. */
export async function settled(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
}
