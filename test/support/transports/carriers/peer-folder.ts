import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An empty folder for a peer's files. */
export function peerFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `messaging-${name}-`));
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
