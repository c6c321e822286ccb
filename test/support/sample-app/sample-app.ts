import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PATIENCE_MS } from '../common/until.js';
import { RawConnection } from '../http/http-client.js';

export const ROOT = resolve(import.meta.dirname, '../../..');

/**
 * Compiles the sample app against the built package, as `npm start` does, unless `npm run build:sample` has done so,
 * because other suites may be starting the existing files.
 */
export function buildSampleApp(): void {
  if (!existsSync(join(ROOT, 'dist/index.js'))) execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT });
  const sources = readdirSync(join(ROOT, 'sample-app/src'), { recursive: true, encoding: 'utf8' });
  const changed = [...sources.map((path) => join('sample-app/src', path)), 'dist/index.js'].map(changedAt);
  if (changedAt('sample-app/dist/main.js') > Math.max(...changed)) return;
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'sample-app/tsconfig.json'], {
    cwd: ROOT,
  });
}

function changedAt(path: string): number {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** What the sample app prints when it has started. */
export const WELCOME = /curl -X POST .*\n/;

/** A running sample app. */
export interface SampleApp {
  readonly url: string;
  readonly key: string;
  /** Everything that it printed. */
  readonly output: string;
  /** Ends it. Resolves when it is gone. One in this process is closed, whatever the signal. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** An empty folder for a database of its own. */
export function sampleFolder(): string {
  return mkdtempSync(join(tmpdir(), 'messaging-sample-'));
}

/** Starts it on a free port and waits for the `curl` line. @throws Error with its output if it stops before */
export async function startSampleApp(folder: string, env: NodeJS.ProcessEnv = {}): Promise<SampleApp> {
  const child = spawnSampleApp(folder, 'main.js', [], env);
  const output = await outputUntil(child, WELCOME);
  return sampleAppOf(output, async (signal) => {
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  });
}

/** The sample app that printed this. */
export function sampleAppOf(output: string, kill: SampleApp['kill']): SampleApp {
  return {
    url: /Base URL\s+(\S+)\/api\/v1/.exec(output)?.[1] ?? '',
    key: /API key\s+(\S+)/.exec(output)?.[1] ?? '',
    output,
    kill,
  };
}

/** Runs one of its programs to its end. */
export async function runSampleApp(
  folder: string,
  program: 'main.js' | 'operator/operator.js',
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  patienceMs = PATIENCE_MS,
): Promise<{ code: number | null; output: string }> {
  const child = spawnSampleApp(folder, program, args, env);
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  // A program that hangs fails its test (code null) and does not outlive it.
  const overdue = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  const [code] = await once(child, 'close');
  clearTimeout(overdue);
  return { code, output };
}

/**
 * Connections of all kinds for which an end of the app should not wait: a silent one, a slow one, one that is kept
 * alive.
 */
export async function openConnections({ url }: SampleApp): Promise<readonly RawConnection[]> {
  const port = Number(new URL(url).port);
  const silent = await RawConnection.open(port);
  const slow = await RawConnection.open(port);
  slow.write('POST /api/v1/send/sms HTTP/1.1\r\nHost: x\r\n');
  const used = await RawConnection.open(port);
  used.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await used.until(({ received }) => received.includes('\r\n\r\n'));
  return [silent, slow, used];
}

function spawnSampleApp(
  folder: string,
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ChildProcess {
  // It lives for a second or two, so code that V8 optimises would seldom run again.
  const command = ['--no-opt', join(ROOT, 'sample-app/dist', program), ...args];
  return spawn(process.execPath, command, { env: settingsOf(folder, env) });
}

/** The environment variables of its programs. */
export function settingsOf(folder: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'messaging.db')}`, ...env };
}

function outputUntil(child: ChildProcess, wanted: RegExp): Promise<string> {
  return new Promise((done, fail) => {
    let output = '';
    const take = (chunk: Buffer) => {
      output += chunk;
      if (wanted.test(output)) done(output);
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.once('exit', (code) => fail(new Error(`The sample app stopped with ${code}: ${output}`)));
  });
}
