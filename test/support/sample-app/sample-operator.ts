import { format } from 'node:util';
import { settingsOf } from './sample-app.js';

/** Replaces `process.exit` while a command runs here. */
class Ended extends Error {
  constructor(readonly code: number) {
    super(`ended with ${code}`);
  }
}

let runs = 0;

/**
 * Runs an operator's command of the sample app to its end like `runSampleApp`, but in this process and on the sources.
 * A process of its own takes a second or two to load what is already loaded here; `sample-app-operator.test.ts` starts
 * such a process.
 */
export async function operate(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ code: number; output: string }> {
  const { argv, env: ownEnv, exit, exitCode } = process;
  const { log, error } = console;
  let output = '';
  const print = (...words: unknown[]) => {
    output += `${format(...words)}\n`;
  };
  const restore = () => {
    Object.assign(process, { argv, env: ownEnv, exit, exitCode });
    Object.assign(console, { log, error });
  };
  Object.assign(console, { log: print, error: print });
  Object.assign(process, {
    argv: [...argv.slice(0, 2), ...args],
    env: settingsOf(folder, env),
    exitCode: 0,
    exit: (code: number) => {
      throw new Ended(code);
    },
  });
  try {
    runs += 1;
    // The program is evaluated for each command, its imports once.
    await import(`../../../sample-app/src/operator/operator.js?${runs}`);
    return { code: Number(process.exitCode), output };
  } catch (failure) {
    if (!(failure instanceof Ended)) throw failure;
    return { code: failure.code, output };
  } finally {
    restore();
  }
}
