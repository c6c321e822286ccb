import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const HOOKS = pathToFileURL(`${import.meta.dirname}/typescript-hooks.mjs`).href;

/**
 * Runs a program of ours in a process of its own, on the sources, without Jest's modules, to see what Node itself does
 * with modules or contexts.
 *
 * @returns its output, read as JSON
 */
export async function plainNode(program: URL): Promise<unknown> {
  const register = `import { register } from 'node:module'; register('${HOOKS}');`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(register)}`,
    program.pathname,
  ]);
  return JSON.parse(stdout);
}
