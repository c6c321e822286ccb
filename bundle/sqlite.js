import { execSync } from 'node:child_process';
import { existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

// `prepare`, for who works on this package: the better-sqlite3 that runs on this Node. The lock has version 12, as Node 20
// needs it. From Node 24 on, `node_modules/better-sqlite3` becomes a link to version 13: 12 compiled on Node 24.19 or later
// aborts there. 13 brings its binaries; npm 10 would run node-gyp for it all the same, so it has a folder and a lock of its own.

const installed = join(import.meta.dirname, '../node_modules/better-sqlite3');
const version13 = join(import.meta.dirname, 'sqlite-13');

/** What it prints is shown if it fails. */
const npm = (command, cwd) => execSync(`npm ${command}`, { cwd, stdio: 'pipe' });

// Without the development dependencies there is none, and none is needed.
if (existsSync(installed) && !lstatSync(installed).isSymbolicLink()) {
  if (Number.parseInt(process.versions.node, 10) >= 24) {
    npm('ci --ignore-scripts', version13);
    rmSync(installed, { recursive: true });
    symlinkSync('../bundle/sqlite-13/node_modules/better-sqlite3', installed, 'junction');
  } else if (!existsSync(join(installed, 'build/Release/better_sqlite3.node'))) {
    // npm 10 has done it; npm 11 leaves it to us, as `allowScripts` says, so that nothing is compiled for Node 24.
    npm('run install', installed);
  }
}
