/** How long a test waits for what must happen: the machine may have ten times the work that it has processors for. */
export const PATIENCE_MS = 90_000;

/** Looks again and again until what is seen is so, and answers it. @throws Error after `limitMs` */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (seen: T) => boolean = Boolean,
  limitMs = PATIENCE_MS,
): Promise<T> {
  const end = Date.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    if (Date.now() > end) throw new Error(`Still not so after ${limitMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
