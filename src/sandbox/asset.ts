import { readFileSync } from 'node:fs';

/**
 * Reads a file of `page/` or `media/`, which stand beside this module in `src` and, copied by the build, in `dist`.
 *
 * @param path relative to this module
 * @throws Error with the code `ENOENT` when the file was not installed, for instance because a bundler left it out
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(path, import.meta.url));
}
