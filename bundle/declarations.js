import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { withFieldDocs } from './field-docs.js';
import { isMapped, thinDeclarationMap, withoutMap } from './maps.js';

/** A module of this package that a declaration mentions. */
const RELATIVE = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)\.js['"]/g;

/**
 * Takes the declarations of the entries, and those that they mention, from `build`, which has the folders of this project.
 * Each entry gets a `.d.cts`.
 */
export function declarations() {
  return {
    name: 'declarations',
    async generateBundle(_, bundle) {
      const entries = Object.values(bundle).filter(({ isEntry }) => isEntry);
      // Grows while it is walked.
      const sources = new Set(entries.map(({ name }) => `src/${name}`));
      for (const source of sources) {
        const [code, map] = ['d.ts', 'd.ts.map'].map((end) => readFileSync(`build/${source}.${end}`, 'utf8'));
        const path = placeOf(source);
        const declared = placed({ code, map }, source, path);
        const { code: compiled, map: fullMap } = path.endsWith('.api')
          ? await withFieldDocs(declared, `build/${source}.js`)
          : declared;
        for (const [, specifier] of code.matchAll(RELATIVE)) sources.add(join(dirname(source), specifier));
        const mapped = isMapped(path);
        this.emitFile({ type: 'asset', fileName: `${path}.d.ts`, source: mapped ? compiled : withoutMap(compiled) });
        if (!mapped) continue;
        this.emitFile({ type: 'asset', fileName: `${path}.d.ts.map`, source: thinDeclarationMap(fullMap, compiled) });
      }
      for (const { name } of entries) {
        this.emitFile({ type: 'asset', fileName: `${name}.d.cts`, source: commonJs(basename(name)) });
      }
    },
  };
}

/** Where `dist` has what `build` has at this path: the contract suites are a part of `testing`. */
function placeOf(source) {
  return source.replace(/^src\//, '').replace(/^test\/contract\//, 'testing/');
}

/** A declaration as it is at its place in `dist`: what it mentions lies elsewhere there, and its source is a folder nearer. */
function placed({ code, map }, source, path) {
  const { sources, ...rest } = JSON.parse(map);
  return {
    code: code.replace(RELATIVE, (mention, specifier) => {
      const target = relative(dirname(path), placeOf(join(dirname(source), specifier)));
      return mention.replace(specifier, target.startsWith('.') ? target : `./${target}`);
    }),
    map: JSON.stringify({
      ...rest,
      sources: sources.map((each) => relative(join('dist', dirname(path)), join('build', dirname(source), each))),
    }),
  };
}

/** The same types, so that what a CommonJS module got can be given to an ES module. Node too gives both the same classes. */
function commonJs(name) {
  return `// @ts-ignore TypeScript before 5.8 does not know that Node can require an ES module.\nexport * from './${name}.js';\n`;
}
