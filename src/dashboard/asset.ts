import { readFileSync } from 'node:fs';

/**
 * Reads a file of the built application from `build`. The package has another version of this module, which the build makes:
 * there the files are code, as a bundler would leave a folder out.
 *
 * @throws Error with the code `ENOENT` when the file was not built
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(`../../build/dashboard/app/${path}`, import.meta.url));
}
