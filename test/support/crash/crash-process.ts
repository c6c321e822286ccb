import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from '@swc/core';
import type { ProcessRole } from '../../../src/outbox/delivery/process-role.api.js';
import type { Adapter } from '../http/http-apps.js';
import { nodeAhead } from './wrong-clock.js';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The order to a crash host. */
export interface CrashSettings {
  /** `sqlite:<path>`, `postgres://…` or `mysql://…`. */
  readonly database: string;
  /** Default `sandbox`. `twilio` sends nothing and has signed callbacks. */
  readonly carrier?: 'sandbox' | 'at-least-once' | 'at-most-once' | 'idempotent' | 'twilio';
  /** The port of an SMSC. If it is given, SMPP is the transport, and `carrier` says how it repeats. */
  readonly smscPort?: number;
  /**
   * An HTTP gateway as in `test/torture/counting-carrier.ts`. If it is given, that is the transport, and `carrier` says
   * how it repeats.
   */
  readonly gateway?: { readonly url: string; readonly secret: string };
  /** A shipped HTTP vendor with its options, and where it calls. If it is given, that is the transport. */
  readonly vendor?: {
    readonly name: 'smsgate' | 'httpsms' | 'textbee' | 'kannel' | 'jasmin' | 'mtn';
    readonly options: Readonly<Record<string, unknown>>;
    readonly callbackUrl: string;
    readonly callbackSecret: string;
  };
  /**
   * The file in which the carrier records what it receives: `<run> <smsID>:<position>` a line; beside it, in
   * `<file>.answered`, its answers.
   */
  readonly carrierLog?: string;
  /** Mounts one-time passcodes with these limits, a messaging-app channel, and the sandbox's endpoints. */
  readonly channels?: { readonly codes: 'none' | 'strict' };
  /** Overrides the defaults of a crash host. */
  readonly dispatch?: { readonly batchSize?: number; readonly pollMs?: number };
  /** Default `all`. */
  readonly role?: ProcessRole;
  /** What notifies its processes of each other. */
  readonly notifier?: { readonly kind: 'postgres' | 'redis'; readonly url: string };
  /**
   * Adds routes of the host's own on this account, see `HostController`. The storage is then on the host's DataSource.
   */
  readonly ownRoutes?: { readonly accountId: string };
  /** Answers before it commits. */
  readonly naive?: boolean;
  /** Keeps memory for each request. */
  readonly leaks?: boolean;
  /** How far the machine's clock is ahead, in milliseconds. Default 0. */
  readonly aheadMs?: number;
  /** Uses the machine's clock, whatever the database's clock says. */
  readonly ownClock?: boolean;
  /** Default `express`. */
  readonly adapter?: Adapter;
}

/** The same options, as the program reads them. */
export interface CrashOrder extends CrashSettings {
  readonly port: number;
  /** Counts its starts, from 1. */
  readonly run: number;
}

/** The memory and handles of a host, after a garbage collection. */
export interface HostFigures {
  readonly heapBytes: number;
  /** Sockets, timers and everything else that libuv knows. */
  readonly handles: number;
}

/** The program of `crash-host.ts`, which is started, killed at any moment, and started again. */
export class CrashProcess {
  private readonly program = compiled();
  private child: ChildProcess | undefined;
  /** How often it was started. */
  runs = 0;
  private port = 0;
  /** Everything that all of its runs wrote to their standard error. */
  errors = '';

  /** @param flags of Node */
  constructor(
    private readonly settings: CrashSettings,
    private readonly flags: readonly string[] = [],
  ) {}

  /** Its URL, once it answers. The same after every start. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get running(): boolean {
    return this.child !== undefined;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('The host does not run.');
    return this.child.pid;
  }

  /** Starts it; `answering` resolves when it answers. */
  start(): { readonly answering: Promise<void> } {
    const order: CrashOrder = { ...this.settings, port: this.port, run: ++this.runs };
    const ahead = nodeAhead(this.settings.aheadMs ?? 0);
    const child = spawn(
      process.execPath,
      [...ahead, ...this.flags, '--expose-gc', '--input-type=module', '--eval', this.program],
      {
        cwd: ROOT,
        env: { PATH: process.env.PATH, ORDER: JSON.stringify(order) },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    this.child = child;
    child.stderr?.on('data', (chunk) => (this.errors += chunk));
    return { answering: this.answering(child) };
  }

  /** Stops or resumes it, without ending it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
    this.child?.kill(signal);
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    const { child } = this;
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    if (this.child === child) this.child = undefined;
  }

  /** Ends it with a signal; resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.child?.kill(signal);
    await this.ended();
  }

  async figures(): Promise<HostFigures> {
    const { child } = this;
    if (!child) throw new Error('The host does not run.');
    child.send('figures');
    const [figures]: unknown[] = await once(child, 'message');
    return figures as HostFigures;
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
  }

  private answering(child: ChildProcess): Promise<void> {
    const answering = new Promise<void>((done, fail) => {
      child.stdout?.on('data', (chunk) => {
        const port = /PORT (\d+)/.exec(String(chunk))?.[1];
        if (port === undefined) return;
        this.port = Number(port);
        done();
      });
      child.once('exit', (code) => fail(new Error(`The host stopped with ${code}: ${this.errors}`)));
    });
    // Killed before it answered. Whoever did that does not wait for this promise.
    answering.catch(() => undefined);
    return answering;
  }
}

let program: string | undefined;

/** A JavaScript expression, evaluated at the package's root, where `nestjs-messaging` is the built package. */
function compiled(): string {
  if (!existsSync(join(ROOT, 'dist/index.js'))) execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT });
  program ??= transformSync(readFileSync(join(import.meta.dirname, 'crash-host.ts'), 'utf8'), {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
  }).code;
  return program;
}
