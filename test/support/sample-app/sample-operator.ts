import { format } from 'node:util';
import { settingsOf } from './sample-app.js';

/** Replaces `process.exit` while a command runs here. */
class Ended extends Error {
  constructor(readonly code: number) {
    super(`ended with ${code}`);
  }
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
  const exit = (code: number) => {
    throw new Ended(code);
  };
  return endOf(folder, args, env, exit, async () => {
    // The program is evaluated for each command, its imports once.
    await import(`../../../sample-app/src/operator/operator.js?${runs}`);
    return Number(process.exitCode);
  });
}

/**
 * Starts the server of the sample app in this process and on the sources, with settings that it refuses before it has opened
 * anything. `sample-app.test.ts` starts such a process.
 */
export function refusedStart(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Ending> {
  let exit: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    exit = resolve;
  });
  return endOf(folder, [], env, exit, async () => {
    await import(`../../../sample-app/src/main.js?${runs}`);
    return ended;
  });
}

async function endOf(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  exit: (code: number) => void,
  run: () => Promise<number>,
): Promise<Ending> {
  const { argv, env: ownEnv, exit: ownExit, exitCode } = process;
  const { log, error } = console;
  let output = '';
  const print = (...words: unknown[]) => {
    output += `${format(...words)}\n`;
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
