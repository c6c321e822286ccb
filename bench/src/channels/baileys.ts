import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { sqliteUrl } from '../target.js';
import type { Memory } from '../whatsapp/memory.js';
import type { Readings, Task } from '../whatsapp/readings.js';

/** The memory of idle connected sessions, in bytes. */
export interface SessionMemory {
  /**
   * The memory of one session in a process that has linked it. `resumed` is the same for a process that has resumed it.
   */
  readonly linked: Memory;
  readonly resumed: Memory;
  /** The growth of the memory each time that all sessions were closed and resumed in the same process. */
  readonly growth: number;
}

/** This program is built separately, because its peer is part of the tests. */
const CROWD = fileURLToPath(new URL('../whatsapp/bench/src/whatsapp/crowd.js', import.meta.url));

/** Measures sessions over Baileys, on SQLite. They are connected to a peer in a process of its own on loopback. */
export async function benchBaileys(sessions: number, rounds: number): Promise<SessionMemory> {
  const place = sqliteUrl();
  try {
    const { linked, resumed, again, more } = await readings({ url: place.url, sessions, rounds });
    const last = again.at(-1) ?? resumed[1];
    return {
      linked: share(linked, more.linked),
      resumed: share(resumed, more.resumed),
      growth: (last.heap - resumed[1].heap) / rounds,
    };
  } finally {
    await place.drop();
  }
}

function share([few, all]: readonly [Memory, Memory], sessions: number): Memory {
  return { rss: (all.rss - few.rss) / sessions, heap: (all.heap - few.heap) / sessions };
}

function readings(task: Task): Promise<Readings> {
  return new Promise((resolve, reject) => {
    fork(CROWD, [JSON.stringify(task)])
      .once('message', (message: Readings) => resolve(message))
      .once('exit', () => reject(new Error('The crowd of sessions ended early.')));
  });
}
