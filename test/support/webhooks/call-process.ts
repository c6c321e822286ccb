import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';

const HOOKS = pathToFileURL(`${import.meta.dirname}/../jest/typescript-hooks.mjs`).href;
const REGISTER = `import { register } from 'node:module'; register('${HOOKS}');`;

/** The order to a process that records events and calls endpoints. */
export interface CallOrder {
  readonly database: string;
  readonly account: string;
  readonly leaseMs: number;
  /** Whether it records events, 5 at a time. */
  readonly records: boolean;
  /** Moves the cursor before the answer. */
  readonly naive?: boolean;
}

/** The program of `call-host.ts` in a process of its own, on the sources. */
export class CallHost {
  private child: ChildProcess | undefined;
  private errors = '';

  constructor(private readonly order: CallOrder) {}

  async start(): Promise<void> {
    const program = `${import.meta.dirname}/call-host.ts`;
    const child = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(REGISTER)}`, program],
      { env: { PATH: process.env.PATH, ORDER: JSON.stringify(this.order) }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    this.child = child;
    child.stderr?.on('data', (chunk) => (this.errors += chunk));
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk) => String(chunk).includes('READY') && resolve());
      child.once('exit', (code) => reject(new Error(`The host stopped with ${code}: ${this.errors}`)));
    });
  }

  /** Stops it from recording more. Resolves when everything is stored that it was recording. */
  async quiet(): Promise<void> {
    this.child?.send('quiet');
    if (this.child) await once(this.child, 'message');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(signal);
  }

  /** Ends it with a signal; resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }
}
