/** The longest delay of a timer. With a longer one the timer fires at once. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Runs `work` for at most `ms` milliseconds, or until the signal is aborted.
 * @throws DOMException `TimeoutError`, or the signal's reason. The work's own signal is aborted then
 */
export async function limited<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (within: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const within = controller.signal;
  const leave = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(new DOMException('Timed out', 'TimeoutError')), Math.min(ms, MAX_MS));
  signal?.addEventListener('abort', leave);
  // If the work ignores its signal, this promise ends the wait. The work then goes on, but its result is ignored.
  const aborted = new Promise<never>((_, reject) => {
    within.addEventListener('abort', () => reject(within.reason));
  });
  try {
    return await Promise.race([work(within), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}

/** Resolves after so many milliseconds. @throws the signal's reason if it is aborted before */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let leave = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      signal?.throwIfAborted();
      leave = () => reject(signal?.reason);
      signal?.addEventListener('abort', leave);
      timer = setTimeout(resolve, Math.min(ms, MAX_MS));
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}
