/**
 * Timers of at least this length are among those that Baileys leaves running when its socket is closed, for example 30
 * s after an upload of keys.
 */
const LEFTOVER_MS = 5000;

let done = false;

/** Prevents such timers from holding the test process for half a minute after the last test. */
export function letLeftoverTimersGo(): void {
  if (done) return;
  done = true;
  const start = globalThis.setTimeout;
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof start>) => {
    const timer = start(...args);
    return (args[1] ?? 0) >= LEFTOVER_MS ? timer.unref() : timer;
  }, start);
}
