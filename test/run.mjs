import { spawn } from 'node:child_process';
import { once } from 'node:events';

// `npm test`: the sources are checked beside the build and the tests, which do not need that check and do not always
// use both processors. Arguments go to Jest. The first step that fails ends everything.

const running = new Set();

/**
 * A script of package.json. Its output is printed as it comes, or in one piece at its end, so that lines stay whole.
 */
async function run(script, { args = [], inOnePiece = false } = {}) {
  // A group of its own, so that everything it started ends with it.
  const child = spawn('npm', ['run', '-s', script, '--', ...args], {
    detached: true,
    stdio: inOnePiece ? ['ignore', 'pipe', 'pipe'] : 'inherit',
  });
  running.add(child);
  let output = '';
  for (const stream of inOnePiece ? [child.stdout, child.stderr] : []) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  running.delete(child);
  process.stdout.write(output);
  if (code !== 0) throw new Error(`npm run ${script} has failed.`);
}

function endAll(reason) {
  for (const { pid } of running) process.kill(-pid, 'SIGTERM');
  running.clear();
  console.error(reason);
  process.exit(1);
}

async function check() {
  await run('typecheck', { inOnePiece: true });
  await run('lint', { inOnePiece: true });
}

async function test() {
  await run('build:sample');
  await run('jest', { args: ['--selectProjects', 'unit', 'e2e', ...process.argv.slice(2)] });
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => endAll(`Ended by ${signal}.`));
await Promise.all([check(), test()]).catch(({ message }) => endAll(message));
