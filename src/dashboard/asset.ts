import { existsSync, readFileSync } from 'node:fs';

/** Beside this module, as installed; seen from the sources, the place where the build puts it. */
const FOLDERS = ['app/', '../../dist/dashboard/app/'];

/**
 * Reads a file of the built application.
 * @throws Error with the code `ENOENT` when the file was not built or not installed, for instance because a bundler left it out
 */
export function readApp(path: string): Buffer {
  const places = FOLDERS.map((folder) => new URL(folder + path, import.meta.url));
  return readFileSync(places.find((place) => existsSync(place)) ?? new URL(`app/${path}`, import.meta.url));
}
