import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the licences of the packages that a bundle contains into a file of its folder. */
export function licences(fileName) {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
      const folders = new Set(modules.filter((id) => id.includes('/node_modules/')).map(packageFolder));
      this.emitFile({ type: 'asset', fileName, source: [...folders].sort().map(licenceOf).join('\n\n') });
    },
  };
}

function packageFolder(id) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)[0];
}

/** @throws Error for a package without a licence file */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence file.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
