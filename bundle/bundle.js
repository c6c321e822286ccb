import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { rolldown } from 'rolldown';
import { embeddedAssets, filesOf, writeFiles } from './assets.js';
import { declarations } from './declarations.js';
import { licences } from './licences.js';
import { isMapped, thinCodeMap, withoutMap } from './maps.js';

// Makes `dist` from `build`, which holds what the compiler made. docs/decisions/bundled-entries.md says why.

const { bin, dependencies, exports, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Packages without a CommonJS form. The CommonJS form of this package contains them. */
const ESM_ONLY = ['file-type', 'jose', 'uuid'];

const installed = Object.keys({ ...dependencies, ...peerDependencies });

/** Run in browsers too: each is one file, which shares nothing with the others. */
const CLIENTS = ['client/index', 'client/manage/index'];

/** Nest's errors and logs name the classes. */
const keepNames = { function: true, class: true };

/** For the CommonJS form, which only Jest runs and which has no maps. */
const MINIFIED = { compress: { keepNames }, mangle: { keepNames }, codegen: { removeWhitespace: true } };

/** The entries of package.json; and the modules that have files beside them. */
const entries = Object.values(exports)
  .flatMap(({ default: path }) => (path === undefined ? [] : [nameOf(path)]))
  .filter((name) => !CLIENTS.includes(name))
  .concat('sandbox/asset', 'dashboard/asset');

await write({
  // A command is started by Node, which takes the ES modules.
  names: [...entries, ...Object.values(bin).map(nameOf)],
  external: installed,
  plugins: [embeddedAssets(), sourceMaps(), declarations()],
  output: { format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'shared/[name].js', sourcemap: true },
});
await write({
  names: entries,
  external: installed.filter((name) => !ESM_ONLY.includes(name)),
  plugins: [embeddedAssets(), licences('THIRD-PARTY-LICENSES')],
  output: {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'shared/[name].cjs',
    // Jest has no import() in CommonJS.
    dynamicImportInCjs: false,
    minify: MINIFIED,
  },
});

for (const [format, end] of [
  ['esm', 'js'],
  ['cjs', 'cjs'],
]) {
  for (const name of CLIENTS) {
    await write({
      names: [name],
      external: [],
      platform: 'neutral',
      plugins: format === 'esm' ? [sourceMaps(), declarations()] : [],
      output: {
        format,
        entryFileNames: `[name].${end}`,
        sourcemap: format === 'esm',
        ...(format === 'cjs' && { minify: MINIFIED }),
      },
    });
  }
}

writeFiles('sandbox', filesOf('sandbox', ['page', 'media']));

/** The name of a file of `dist`, without its folder and ending. */
function nameOf(path) {
  return path.replace(/^\.\/dist\/(.*)\.js$/, '$1');
}

/**
 * @param names the entries
 * @param external packages that stay imports
 */
async function write({ names, external, plugins, output, platform = 'node' }) {
  const bundle = await rolldown({
    input: Object.fromEntries(names.map((path) => [path, `build/src/${path}.js`])),
    platform,
    // An inlined constant leaves behind an import of its file without a name, which looks like an import for side effects.
    optimization: { inlineConst: false },
    external: (id) => isBuiltin(id) || external.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins,
    // A warning ends the build, and this one only says that the machine is slow.
    checks: { bundlerTimings: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const written = await bundle.write({
    ...output,
    dir: 'dist',
    comments: false,
    keepNames: true,
    sourcemapExcludeSources: true,
  });
  for (const { fileName, code, sourcemapFileName, moduleIds = [] } of written.output) {
    const foreign =
      CLIENTS.includes(names[0]) &&
      moduleIds.find((id) => /\/build\/src\/(?!client\/|common\/(?:retry-after|time)\.js$)/.test(id));
    if (foreign)
      throw new Error(
        `${fileName} would contain ${foreign}: a client may import only types from there, see the rule client-loads-nothing.`,
      );
    if (!sourcemapFileName) continue;
    const path = `dist/${sourcemapFileName}`;
    if (isMapped(fileName)) {
      writeFileSync(path, thinCodeMap(readFileSync(path, 'utf8'), code));
    } else {
      rmSync(path);
      writeFileSync(`dist/${fileName}`, withoutMap(code));
    }
  }
  await bundle.close();
}

/** Reads the compiler's maps, so that the bundle's lead to `src`. */
function sourceMaps() {
  return {
    name: 'source-maps',
    load: {
      filter: { id: /\/build\/.*\.js$/ },
      handler: (id) => ({ code: readFileSync(id, 'utf8'), map: readFileSync(`${id}.map`, 'utf8') }),
    },
  };
}
