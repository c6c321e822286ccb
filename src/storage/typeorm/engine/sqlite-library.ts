import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The first version of Node on which better-sqlite3 12 does not run. */
const [MAJOR, MINOR] = [24, 19];

/**
 * A warning for a version of better-sqlite3 that ends the process on this Node, not at the start but when a first statement is
 * collected: up to 12 it is built on a class of Node that asserts there (`RemoveEnvironmentCleanupHook`).
 *
 * @param library the installed version; undefined where it cannot be known
 */
export function sqliteWarning(
  node: string = process.versions.node,
  library: string | undefined = installedVersion(),
): string | undefined {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isNew = major > MAJOR || (major === MAJOR && minor >= MINOR);
  if (!isNew || library === undefined || Number.parseInt(library, 10) > 12) return undefined;
  return `better-sqlite3 ${library} ends the process on Node ${node} sooner or later: install better-sqlite3 13 (docs/storage.md says how), or run Node below ${MAJOR}.${MINOR}.`;
}

function installedVersion(): string | undefined {
  try {
    const { version }: { version?: unknown } = require('better-sqlite3/package.json');
    return typeof version === 'string' ? version : undefined;
  } catch {
    // A host may have it where only TypeORM finds it.
    return undefined;
  }
}
