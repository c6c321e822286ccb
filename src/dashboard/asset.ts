import { readFileSync } from 'node:fs';

/**
 * Reads a file of the built application from `build`. The build replaces this module in the package by one that contains the
 * files as code, because a bundler would leave a folder out.
 *
 * @throws Error with the code `ENOENT` if the file was not built
 */
export function readAsset(path: string): Buffer {
  return readFileSync(new URL(`../../build/dashboard/app/${path}`, import.meta.url));
}
