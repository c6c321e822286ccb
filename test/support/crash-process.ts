import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { transformSync } from '@swc/core';
import type { Adapter } from './http-apps.js';

const ROOT = resolve(import.meta.dirname, '../..');

/** What a crash host is told. */
export interface CrashSettings {
  /** `sqlite:<path>` or `postgres://…`. */
  readonly database: string;
  readonly carrier?: 'sandbox' | 'at-least-once' | 'at-most-once';
  /** Where an SMSC listens: then SMPP is the transport, and `carrier` how it repeats. */
  readonly smscPort?: number;
  /** The file in which the carrier notes what it is given: `<run> <smsID>:<position>` a line. */
  readonly carrierLog?: string;
  /** Answers before it commits. */
  readonly naive?: boolean;
  /** Default `express`. */
  readonly adapter?: Adapter;
}

/** The program of `crash-host.ts`, which is started, killed at any moment, and started again. */
export class CrashProcess {
  private readonly program = compiled();
  private child: ChildProcess | undefined;
  private runs = 0;
  private port = 0;
  private errors = '';

  constructor(private readonly settings: CrashSettings) {}

  /** Where it answers, when it does; the same after every start. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get running(): boolean {
    return this.child !== undefined;
  }

  /** Starts it; `answering` resolves when it answers. */
  start(): { readonly answering: Promise<void> } {
    const {
      database,
      carrier = 'sandbox',
      smscPort = '',
      carrierLog = '',
      naive = false,
      adapter = 'express',
    } = this.settings;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', this.program], {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: database,
        PORT: String(this.port),
        CARRIER: carrier,
        SMSC_PORT: String(smscPort),
        CARRIER_LOG: carrierLog,
        RUN: String(++this.runs),
        NAIVE: naive ? 'yes' : '',
        HTTP_ADAPTER: adapter,
      },
    });
    this.child = child;
    child.stderr.on('data', (chunk) => (this.errors += chunk));
    return { answering: this.answering(child) };
  }

  /** Ends it with a signal; resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { child } = this;
    this.child = undefined;
    if (!child || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
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
    // Killed before it answered: whoever did it does not wait for this.
    answering.catch(() => undefined);
    return answering;
  }
}

/** As JavaScript; evaluated at the package's root, where `nestjs-messaging` is the built package itself. */
function compiled(): string {
  if (!existsSync(join(ROOT, 'dist/index.js'))) execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT });
  return transformSync(readFileSync(join(import.meta.dirname, 'crash-host.ts'), 'utf8'), {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'es6' },
  }).code;
}
