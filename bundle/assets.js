import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

// The files that the package serves (pages, sample files) are modules of its bundles. So a host's bundler, which takes code
// only, takes them too. In the sources `asset.ts` reads them from their folders.

/** What `sandbox/asset` and `dashboard/asset` become. Both forms of the package share the module that has the files. */
const READER = `import files from './files.cjs';
export function readAsset(path) {
  const [text, encoding] = files()[path] ?? [];
  if (text === undefined) throw new Error('The package has no file ' + path + '.');
  return Buffer.from(text, encoding);
}
`;

/** Has the readers of a bundle read `files.cjs` beside them, which `writeFiles` writes. */
export function embeddedAssets() {
  return {
    name: 'embedded-assets',
    resolveId: {
      filter: { id: /^\.\/files\.cjs$/ },
      handler: (id) => ({ id, external: true }),
    },
    load: { filter: { id: /\/build\/src\/(sandbox|dashboard)\/asset\.js$/ }, handler: () => READER },
  };
}

/**
 * Writes the module with the files of a folder of `dist`. It exports a function, so that nothing is made of them before the
 * first is served.
 *
 * @param files bytes by path
 */
export function writeFiles(folder, files) {
  const texts = Object.entries(files).map(([path, bytes]) => {
    const text = bytes.toString();
    return [path, Buffer.from(text).equals(bytes) ? [text, 'utf8'] : [bytes.toString('base64'), 'base64']];
  });
  const code = `module.exports = () => (${JSON.stringify(Object.fromEntries(texts))});\n`;
  writeFileSync(`dist/${folder}/files.cjs`, code);
}

/** The files of folders below a folder of `src`, by their paths in it. */
export function filesOf(folder, names) {
  const paths = names.flatMap((name) => readdirSync(`src/${folder}/${name}`).map((file) => `${name}/${file}`));
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(`src/${folder}/${path}`)]));
}
