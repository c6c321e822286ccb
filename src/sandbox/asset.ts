import { readFileSync } from 'node:fs';

/**
 * Reads a file of `page/` or `media/`, which stand beside this module. The package has another version of this module, which
 * the build makes: there the files are code, as a bundler would leave the folders out.
 *
 * @param path relative to this module
 * @throws Error with the code `ENOENT` when there is no such file
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(path, import.meta.url));
}
