import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'vite';
import { writeFiles } from './assets.js';
import { licences } from './licences.js';

// Builds the dashboard's page from `src/dashboard/web` into `build/dashboard/app`, and from there into a module of `dist`: each
// file packed by brotli, with a name that changes with its content, and a manifest that names what the page begins with.

const OUT = 'build/dashboard/app';

/** Of the packages that are contained. */
const LICENCES = 'THIRD-PARTY-LICENSES';

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

const output = await build({
  configFile: false,
  root: 'src/dashboard/web',
  base: './',
  logLevel: 'warn',
  publicDir: false,
  plugins: [licences(LICENCES)],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    write: false,
    target: ['chrome111', 'firefox115', 'safari16.4'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: { main: 'src/dashboard/web/main.tsx' },
      output: {
        entryFileNames: '[name]-[hash].js',
        chunkFileNames: '[name]-[hash].js',
        assetFileNames: '[name]-[hash][extname]',
      },
    },
  },
});

const built = [output].flat().flatMap(({ output }) => output);
for (const { fileName, moduleIds = [] } of built) {
  const shape = moduleIds.find((id) => /\/src\/(schemas\/|.+\.api\.ts$)/.test(id));
  if (shape) throw new Error(`${fileName} would contain ${shape}: the page may import only types from there.`);
}
const main = built.find(({ isEntry }) => isEntry);
const style = built.find(({ fileName }) => /^main-[\w-]+\.css$/.test(fileName));
if (main === undefined || style === undefined) throw new Error('The dashboard has no script or no style.');

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const files = {};
for (const { fileName, ...file } of built.sort((a, b) => (a.fileName < b.fileName ? -1 : 1))) {
  if (fileName === LICENCES) {
    writeFileSync(join('dist/dashboard', fileName), file.source);
    continue;
  }
  const type = TYPES[fileName.slice(fileName.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`The dashboard has a file of an unknown type: ${fileName}`);
  const bytes = Buffer.from(file.type === 'chunk' ? file.code : file.source);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(join(OUT, `${fileName}.br`), brotliCompressSync(bytes, { params }));
  files[fileName] = type;
}
const manifest = { script: main.fileName, style: style.fileName, files };
writeFileSync(join(OUT, 'manifest.json'), JSON.stringify(manifest));
const names = readdirSync(OUT).sort();
writeFiles('dashboard', Object.fromEntries(names.map((name) => [name, readFileSync(join(OUT, name))])));
