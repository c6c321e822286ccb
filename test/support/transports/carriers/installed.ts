import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The folder into which Debian installs servers, which is not in everybody's path. */
const SERVERS = ['/usr/sbin', '/usr/local/sbin', '/sbin'];

/** The place of a program or a Perl module; undefined if it is not installed. */
function found(file: string, folders: readonly string[]): string | undefined {
  return folders.map((folder) => join(folder, file)).find(isReadable);
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program. @throws Error if it is not installed */
export function program(name: string): string {
  const file = found(name, [...(process.env.PATH ?? '').split(delimiter), ...SERVERS]);
  if (file === undefined) throw new Error(`${name} is not installed.`);
  return file;
}

/**
 * Whether a suite can have its peer. Without it the suite is skipped with a message; with `CI=true` it fails instead,
 * because a missing peer is a mistake there.
 *
 * @param packages Debian's names of the packages that it needs
 * @param files the programs that must be in the path, or absolute paths
 */
export function hasPeer(name: string, packages: string, files: readonly string[]): boolean {
  const missing = files.filter((file) => !(file.startsWith('/') ? isReadable(file) : isProgram(file)));
  if (missing.length === 0) return true;
  const why = `${name} needs ${missing.join(', ')}: apt-get install ${packages}`;
  if (process.env.CI === 'true') throw new Error(why);
  console.warn(`SKIPPED: ${why}; its suite did not run.`);
  return false;
}

function isProgram(name: string): boolean {
  try {
    program(name);
    return true;
  } catch {
    return false;
  }
}
