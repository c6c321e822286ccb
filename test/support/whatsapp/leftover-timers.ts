/** Baileys' limit for an upload of keys; it leaves the timer running when the upload is done and the socket closed. */
const UPLOAD_LIMIT_MS = 30_000;

let done = false;

/** Keeps such a timer from holding the test process for half a minute after the last test. */
export function letLeftoverTimersGo(): void {
  if (done) return;
  done = true;
  const start = globalThis.setTimeout;
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof start>) => {
    const timer = start(...args);
    return args[1] === UPLOAD_LIMIT_MS ? timer.unref() : timer;
  }, start);
}
