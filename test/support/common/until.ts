/** How long a test waits for something that must happen. The machine may have ten times the work for its processors. */
export const PATIENCE_MS = 90_000;

/** Reads a value again and again until it meets the condition, and returns it. @throws Error after `limitMs` */
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
