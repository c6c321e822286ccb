import { setTimeout } from 'node:timers/promises';

/** What a process holds, in bytes. */
export interface Memory {
  /** All that it has from the system. What is free again mostly stays with it. */
  readonly rss: number;
  /** Objects and buffers that are in use. */
  readonly heap: number;
}

const LOOK_MS = 250;
/** As much as a keep-alive now and then takes. */
const IDLE_CPU_MS = 15;

/** What this process holds once it has nothing to do and has thrown away what nobody needs. It must run with `--expose-gc`. */
export async function idleMemory(): Promise<Memory> {
  let before = process.cpuUsage();
  for (;;) {
    await setTimeout(LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_CPU_MS) break;
    before = process.cpuUsage();
  }
  // The first round lets finalizers go on, which may free more.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await setTimeout(10);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
