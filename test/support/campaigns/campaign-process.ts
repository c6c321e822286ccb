import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';

const HOOKS = pathToFileURL(`${import.meta.dirname}/../jest/typescript-hooks.mjs`).href;
const REGISTER = `import { register } from 'node:module'; register('${HOOKS}');`;

/** The order to a process that looks after campaigns. */
export interface CampaignHostOrder {
  readonly database: string;
  readonly leaseMs: number;
  /** The most recipients that become one SMS. */
  readonly slice: number;
  /** Lets recipients leave the campaign in a second transaction, after the one of their SMS. */
  readonly naive?: boolean;
}

/** The program of `campaign-host.ts` in a process of its own, on the sources. It ends with the process that started it. */
export class CampaignHost {
  private child: ChildProcess | undefined;
  private errors = '';

  constructor(private readonly order: CampaignHostOrder) {}

  async start(): Promise<void> {
    const program = `${import.meta.dirname}/campaign-host.ts`;
    const child = spawn(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(REGISTER)}`, program],
      { env: { PATH: process.env.PATH, ORDER: JSON.stringify(this.order) }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    );
    this.child = child;
    child.stderr?.on('data', (chunk) => {
      this.errors += chunk;
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk) => String(chunk).includes('READY') && resolve());
      child.once('exit', (code, signal) => {
        if (signal === 'SIGKILL') resolve();
        else reject(new Error(`The host stopped with ${code}: ${this.errors}`));
      });
    });
  }

  /** Ends it with `kill -9`, at whatever it is doing. Resolves when it is gone. */
  async kill(): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
