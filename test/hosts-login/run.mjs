import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

// Runs the recipes of docs/login.md for better-auth and Auth.js against the libraries themselves. They are installed into a
// temporary folder, because their optional peers do not fit those of this project. `npm run build` comes first.

const here = import.meta.dirname;
const root = dirname(dirname(here));
const folder = mkdtempSync(join(tmpdir(), 'messaging-login-'));

try {
  for (const file of ['package.json', 'login.test.mjs']) cpSync(join(here, file), join(folder, file));
  const npm = (...args) => spawnSync('npm', args, { cwd: folder, stdio: 'inherit' }).status === 0;
  if (!npm('install', '--no-audit', '--no-fund', '--loglevel=error', '--legacy-peer-deps'))
    throw new Error('npm install');
  const { transpileModule } = (await import(join(folder, 'node_modules/typescript/lib/typescript.js'))).default;
  const doc = readFileSync(join(root, 'docs/login.md'), 'utf8');
  for (const name of ['login.better-auth', 'login.authjs']) {
    const text = doc.split(`\`\`\`typescript name=${name}\n`)[1]?.split('\n```')[0];
    if (text === undefined) throw new Error(`docs/login.md has no snippet ${name}.`);
    const { outputText } = transpileModule(text, { compilerOptions: { module: 'esnext', target: 'es2022' } });
    writeFileSync(join(folder, `${name}.mjs`), outputText);
  }
  for (const [name, target] of [
    ['nestjs-messaging', root],
    ['@nestjs', join(root, 'node_modules/@nestjs')],
    ['reflect-metadata', join(root, 'node_modules/reflect-metadata')],
  ]) {
    symlinkSync(target, join(folder, 'node_modules', name));
  }
  if (!npm('test')) throw new Error('The recipes of docs/login.md fail.');
} finally {
  rmSync(folder, { recursive: true });
}
