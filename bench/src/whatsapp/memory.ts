import { setTimeout } from 'node:timers/promises';

/** The memory of a process, in bytes. */
export interface Memory {
  /** All memory that the process has from the system. Freed memory mostly stays with the process. */
  readonly rss: number;
  /** The objects and buffers that are in use. */
  readonly heap: number;
}

const LOOK_MS = 250;
/** The processor time up to which a process counts as idle. Keep-alives of connections take about so much. */
const IDLE_CPU_MS = 15;

/**
 * The memory of this process after it has become idle and has collected its garbage. It must run with `--expose-gc`.
 */
export async function idleMemory(): Promise<Memory> {
  let before = process.cpuUsage();
  for (;;) {
    await setTimeout(LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_CPU_MS) break;
    before = process.cpuUsage();
  }
  // There are several rounds, because finalizers run after the first one and may free more.
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.();
    await setTimeout(10);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}
