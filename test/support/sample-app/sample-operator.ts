import { randomUUID } from 'node:crypto';
import { format } from 'node:util';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { until } from '../common/until.js';
import { type SampleApp, sampleAppOf, settingsOf, WELCOME } from './sample-app.js';

/** Replaces `process.exit` while a command runs here. */
class Ended extends Error {
  constructor(readonly code: number) {
    super(`ended with ${code}`);
  }
}

function exitHere(code: number): never {
  throw new Ended(code);
}

let runs = 0;

interface Ending {
  readonly code: number;
  readonly output: string;
}

/**
 * Runs an operator's command of the sample app to its end like `runSampleApp`, but in this process and on the sources.
 * A process of its own takes a second or two to load what is already loaded here; `sample-app-operator.test.ts` starts
 * such a process.
 */
export function operate(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ending> {
  return endOf(folder, args, env, exitHere, async () => {
    // The program is evaluated for each command, its imports once.
    await import(`../../../sample-app/src/operator/operator.js?${runs}`);
    return Number(process.exitCode);
  });
}

/** Runs a command of `npx nestjs-messaging` in the same way. `package.test.ts` starts such a process. */
export function operateShipped(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ending> {
  return endOf(folder, args, env, exitHere, async () => {
    process.exitCode = undefined;
    // The modules of `src` stay from one test file to the next.
    await import(`../../../src/operator/operator-command.js?${randomUUID()}`);
    return until(
      () => process.exitCode as number | undefined,
      (code) => code !== undefined,
    ).then(Number);
  });
}

/**
 * Starts the server of the sample app like `startSampleApp`, but in this process and on the sources, for tests of what the
 * started application does. It is closed instead of killed. `sample-app.test.ts` and `sample-app-routes.test.ts` start
 * such a process.
 *
 * @throws Error with its output if it stops before
 */
export async function startHere(folder: string, env: NodeJS.ProcessEnv = {}): Promise<SampleApp> {
  const { code, output, app } = await startServer(folder, env);
  if (code !== RUNS) {
    await app?.close();
    throw new Error(`The sample app stopped with ${code}: ${output}`);
  }
  return sampleAppOf(output, async () => app?.close());
}

/** Starts the server in the same way, with settings that end its start. Returns what it printed. */
export async function refusedStart(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Ending> {
  const { code, output, app } = await startServer(folder, env);
  await app?.close();
  return { code, output };
}

/** In place of an exit code: the server has printed how to reach it. */
const RUNS = -1;

async function startServer(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<Ending & { readonly app?: INestApplication }> {
  const { create } = NestFactory;
  let app: INestApplication | undefined;
  const createOurs = async (...given: Parameters<typeof create>) => {
    // Its log is not part of the output here.
    Object.assign(Object(given.at(-1)), { logger: false });
    app = await create.apply(NestFactory, given);
    // Nest would end this process after the application.
    app.enableShutdownHooks = () => Object(app);
    return app;
  };
  let end: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  Object.assign(NestFactory, { create: createOurs });
  try {
    const ending = await endOf(
      folder,
      [],
      env,
      end,
      async () => {
        await import(`../../../sample-app/src/main.js?${runs}`);
        return ended;
      },
      (output) => WELCOME.test(output) && end(RUNS),
    );
    return app ? { ...ending, app } : ending;
  } finally {
    Reflect.deleteProperty(NestFactory, 'create');
  }
}

async function endOf(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  exit: (code: number) => void,
  run: () => Promise<number>,
  watch: (output: string) => void = () => undefined,
): Promise<Ending> {
  const { argv, env: ownEnv, exit: ownExit, exitCode } = process;
  const { log, error } = console;
  let output = '';
  const print = (...words: unknown[]) => {
    output += `${format(...words)}\n`;
    watch(output);
  };
  const restore = () => {
    Object.assign(process, { argv, env: ownEnv, exit: ownExit, exitCode });
    Object.assign(console, { log, error });
  };
  Object.assign(console, { log: print, error: print });
  Object.assign(process, {
    argv: [...argv.slice(0, 2), ...args],
    env: settingsOf(folder, env),
    exitCode: 0,
    exit,
  });
  try {
    runs += 1;
    return { code: await run(), output };
  } catch (failure) {
    if (!(failure instanceof Ended)) throw failure;
    return { code: failure.code, output };
  } finally {
    restore();
  }
}
