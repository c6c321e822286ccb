import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listens } from '../common/listens.js';
import { until } from '../common/until.js';

const PROGRAM = '/usr/sbin/nginx';

/** Whether Debian's nginx is installed. Without it a suite is skipped, and says so; with `CI=true` it fails instead. */
export function hasNginx(): boolean {
  if (existsSync(PROGRAM)) return true;
  if (process.env.CI === 'true') throw new Error(`${PROGRAM} is not installed.`);
  console.warn(`SKIPPED: ${PROGRAM} is not installed; its suite did not run.`);
  return false;
}

/** An nginx of the test's own on a free port of 127.0.0.1. */
export class OwnNginx {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** @param locations the inside of its `server` */
  static async start(locations: string): Promise<OwnNginx> {
    const port = await freePort();
    const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder};`,
    );
    const config = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
      events {} http { access_log off; ${temporary.join(' ')} server { listen 127.0.0.1:${port}; ${locations} } }`;
    writeFileSync(join(folder, 'nginx.conf'), config);
    const child = spawn(PROGRAM, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
      stdio: 'ignore',
    });
    await until(() => listens(port));
    return new OwnNginx(`http://127.0.0.1:${port}`, child, folder);
  }

  async close(): Promise<void> {
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
