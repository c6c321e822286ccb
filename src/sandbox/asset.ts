import { readFileSync } from 'node:fs';

/**
 * Reads a file of the folders `page/` and `media/` next to this module. The build of the package replaces this module by one that
 * contains the files, because a bundler would leave the folders out.
 *
 * @param path relative to this module
 * @throws Error with the code `ENOENT` if there is no such file
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(path, import.meta.url));
}
