import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withFieldDocs } from './field-docs.js';
import { isMapped, thinDeclarationMap, withoutMap } from './maps.js';

/** A module of this package that a declaration mentions. */
const RELATIVE = /(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)\.js['"]/g;

/** Takes the declarations of the entries, and those that they mention, from a folder. Each entry gets a `.d.cts`. */
export function declarations(folder) {
  return {
    name: 'declarations',
    async generateBundle(_, bundle) {
      const entries = Object.values(bundle).filter(({ isEntry }) => isEntry);
      // Grows while it is walked.
      const paths = new Set(entries.map(({ name }) => name));
      for (const path of paths) {
        const [code, map] = ['d.ts', 'd.ts.map'].map((end) => readFileSync(join(folder, `${path}.${end}`), 'utf8'));
        const declared = { code, map };
        const { code: compiled, map: fullMap } = path.endsWith('.api')
          ? await withFieldDocs(declared, join(folder, `${path}.js`))
          : declared;
        for (const [, relative] of compiled.matchAll(RELATIVE)) paths.add(join(dirname(path), relative));
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

/** The same types, so that what a CommonJS module got can be given to an ES module. Node too gives both the same classes. */
function commonJs(name) {
  return `// @ts-ignore TypeScript before 5.8 does not know that Node can require an ES module.\nexport * from './${name}.js';\n`;
}
