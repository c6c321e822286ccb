import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { until } from '../support/common/until.js';

const VERSIONS = '/usr/lib/postgresql';

/** A PostgreSQL server of the test's own, on a free port, which may be stopped in any manner. */
export class OwnPostgres {
  private process: ChildProcess | undefined;
  private standsStill = false;

  private constructor(
    private readonly folder: string,
    private readonly bin: string,
    readonly port: number,
  ) {}

  /** Undefined if PostgreSQL's programs are not installed. */
  static async start(): Promise<OwnPostgres | undefined> {
    const bin = installed();
    if (bin === undefined) return undefined;
    const server = new OwnPostgres(emptyData(), bin, await freePort());
    run(join(bin, 'initdb'), ['-D', server.folder, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--no-sync']);
    await server.start();
    return server;
  }

  /** A standby that streams from another server. */
  static async follow(primary: OwnPostgres): Promise<OwnPostgres> {
    const standby = new OwnPostgres(emptyData(), primary.bin, await freePort());
    await standby.copy(primary);
    return standby;
  }

  /** Like `start`, for suites that skip with a warning if it is not installed. In CI it must be installed. */
  static async orWarn(untested: string): Promise<OwnPostgres | undefined> {
    const server = await OwnPostgres.start();
    if (server) return server;
    if (process.env.CI === 'true') throw new Error('PostgreSQL is not installed.');
    console.warn(`PostgreSQL is not installed: ${untested} is not tested.`);
    return undefined;
  }

  url(database: string, port = this.port): string {
    return `postgres://postgres@127.0.0.1:${port}/${database}`;
  }

  async start(): Promise<void> {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=200'];
    const args = ['-D', this.folder, '-p', String(this.port), ...settings.flatMap((setting) => ['-c', setting])];
    const [program, all] = asPostgres(join(this.bin, 'postgres'), args);
    this.process = spawn(program, all, { stdio: 'ignore', cwd: '/' });
    await until(() => this.execute('SELECT 1').then(Boolean, () => false), Boolean, 60_000);
  }

  /** `fast` ends its connections and writes everything to disk; `immediate` just ends, and the next start recovers. */
  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    const { process: server } = this;
    if (!server || this.isOver) return;
    const gone = once(server, 'exit');
    run(join(this.bin, 'pg_ctl'), ['-D', this.folder, '-m', mode, '-W', 'stop']);
    await gone;
  }

  /** Restarts it as a standby that follows nobody. */
  async becomeStandby(): Promise<void> {
    await this.stop('fast');
    run('touch', [join(this.folder, 'standby.signal')]);
    await this.start();
  }

  /** Begins anew, as a standby that streams from another server. */
  async copy(primary: OwnPostgres): Promise<void> {
    const data = this.folder;
    for (const file of readdirSync(data)) rmSync(join(data, file), { recursive: true });
    const from = ['-h', '127.0.0.1', '-p', String(primary.port), '-U', 'postgres'];
    run(join(this.bin, 'pg_basebackup'), ['-D', data, ...from, '-R', '-c', 'fast', '--no-sync']);
    await this.start();
  }

  /** Like `kill -9` of all of its processes. */
  async kill(): Promise<void> {
    const { process: server } = this;
    if (!server || this.isOver) return;
    this.signal('SIGKILL');
    this.standsStill = false;
    // `runuser` stops as soon as it sees that the server has stopped, and would then not see its end.
    await until(() => this.isOver || !server.kill('SIGCONT'));
  }

  /** Like a machine that hangs: its connections stay open, and nothing is answered. */
  freeze(): void {
    this.signal('SIGSTOP');
    this.standsStill = true;
  }

  private get isOver(): boolean {
    return this.process === undefined || this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** A signal to all of its processes, each of which has a group of its own. */
  private signal(signal: 'SIGKILL' | 'SIGSTOP'): void {
    const [main = ''] = readFileSync(join(this.folder, 'postmaster.pid'), 'utf8').split('\n');
    // While the server stands still it begins no new processes, and those that end keep their ids.
    process.kill(Number(main), 'SIGSTOP');
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').split(' ').filter(Boolean);
    for (const pid of [...children, main]) process.kill(Number(pid), signal);
  }

  /** Stops the processes that send to standbys, as if the network between them carried nothing any more. */
  async isolate(): Promise<void> {
    for (const { pid } of await this.execute('SELECT pid FROM pg_stat_replication'))
      process.kill(Number(pid), 'SIGSTOP');
  }

  /** A setting of the server, from now on. */
  async set(name: string, value: string): Promise<void> {
    await this.execute(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.execute('SELECT pg_reload_conf()');
  }

  execute(sql: string): Promise<Record<string, unknown>[]> {
    return queryAt(this.url('postgres'), sql);
  }

  async close(): Promise<void> {
    await (this.standsStill ? this.kill() : this.stop('immediate'));
    rmSync(join(this.folder, '..'), { recursive: true, force: true });
  }
}

/** A statement on a connection of its own. */
export async function queryAt(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  // If the server ends while this is connected, the query throws the error.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function installed(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined;
  const [newest] = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a));
  const bin = join(VERSIONS, newest ?? '', 'bin');
  return existsSync(join(bin, 'initdb')) ? bin : undefined;
}

/** A folder for the files of a server, within one of its own. */
function emptyData(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postgres-'));
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  // The programs refuse to run as root.
  if (isRoot()) execFileSync('chown', ['postgres', data]);
  return data;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

function asPostgres(program: string, args: readonly string[]): [string, string[]] {
  return isRoot() ? ['runuser', ['-u', 'postgres', '--', program, ...args]] : [program, [...args]];
}

function run(program: string, args: readonly string[]): void {
  const [name, all] = asPostgres(program, args);
  execFileSync(name, all, { stdio: 'ignore', cwd: '/' });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return address.port;
}
