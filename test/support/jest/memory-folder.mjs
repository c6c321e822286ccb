import { readFileSync, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';
const MIN_FREE_BYTES = 2 ** 30;

/**
 * A folder whose files are in memory, for the temporary files of tests: on a disk, suites wait for each commit of an SQLite
 * file. Undefined if this machine has none, if it has little room, or if programs may not be loaded from it.
 */
export function memoryFolder() {
  try {
    const mayRun = new RegExp(`^tmpfs ${FOLDER} tmpfs (?!\\S*noexec)`, 'm').test(readFileSync('/proc/mounts', 'utf8'));
    const { bavail, bsize } = statfsSync(FOLDER);
    return mayRun && bavail * bsize >= MIN_FREE_BYTES ? FOLDER : undefined;
  } catch {
    return undefined;
  }
}
