import { readFileSync } from 'node:fs';

/**
 * Reads a file of the folders `page/` and `media/` next to this module. The build replaces this module in the package: there the
 * files are part of the code, because a bundler would leave the folders out.
 *
 * @param path relative to this module
 * @throws Error with the code `ENOENT` when there is no such file
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(path, import.meta.url));
}
