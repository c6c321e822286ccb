import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../../common/until.js';

const PATIENCE_MS = 5000;
const REMEMBERED = 200;

/** Where and how a peer runs. */
export interface PeerSurroundings {
  /** Its working directory. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that is not ours, in a process group of its own. */
export class PeerProcess {
  private readonly child: ChildProcess;
  private readonly lines: string[] = [];

  constructor(
    private readonly file: string,
    args: readonly string[],
    { folder, env = {} }: PeerSurroundings,
    heard: (line: string) => void = () => {},
  ) {
    // The peer dies with us, however we end. In Jest a suite cannot listen to the exit of the process.
    this.child = spawn('setpriv', ['--pdeathsig', 'KILL', file, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, LC_ALL: 'C', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.read(this.child.stdout, heard);
    this.read(this.child.stderr, () => {});
    this.child.on('error', (error) => this.lines.push(error.message));
  }

  /**
   * Resolves when the condition is true. @throws Error with the peer's last output, if the peer ends first or the time
   * is up
   */
  async ready(isSo: () => boolean | Promise<boolean>): Promise<void> {
    try {
      await until(async () => this.over || (await isSo()));
    } catch {
      throw new Error(`${this.file} is not ready:\n${this.lines.join('\n')}`);
    }
    if (this.over) throw new Error(`${this.file} ended:\n${this.lines.join('\n')}`);
  }

  /** Sends a signal to the peer and to all processes that it started. */
  signal(name: NodeJS.Signals): void {
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, name);
    } catch {
      // It has already ended.
    }
  }

  /** Ends the peer and all processes that it started. Resolves when it is gone. */
  async stop(): Promise<void> {
    if (!this.over) {
      const gone = once(this.child, 'exit');
      const harder = setTimeout(() => this.signal('SIGKILL'), PATIENCE_MS);
      this.signal('SIGCONT');
      this.signal('SIGTERM');
      await gone;
      clearTimeout(harder);
    }
    this.signal('SIGKILL');
  }

  private get over(): boolean {
    return this.child.pid === undefined || this.child.exitCode !== null || this.child.signalCode !== null;
  }

  private read(from: NodeJS.ReadableStream | null, heard: (line: string) => void): void {
    let rest = '';
    from?.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        heard(line);
        this.lines.push(line);
        if (this.lines.length > REMEMBERED) this.lines.shift();
      }
    });
  }
}
