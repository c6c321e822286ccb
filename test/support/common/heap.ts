import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The number of bytes by which V8's old space grows in 20 000 turns of steady work after the first 1000, without a full
 * collection. Objects that are open then, and those that other suites leave in the process, take up to 2.5 MB.
 */
export async function promotedBytes(turn: () => void): Promise<number> {
  const gc = collector();
  for (let count = 0; count < 1000; count++) turn();
  await new Promise(setImmediate);
  // Objects that are open now are in the old space, and so are their holders.
  gc();
  const before = oldBytes();
  for (let count = 0; count < 20_000; count++) {
    turn();
    if (count % 10 === 0) await new Promise(setImmediate);
    if (count % 2000 === 0) gc({ type: 'minor' });
  }
  return oldBytes() - before;
}

/** Node's `gc` of the flag, which a test may set while it runs. */
function collector(): (options?: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

/** The bytes of V8's old space. */
function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}
