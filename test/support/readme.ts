import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sample-app.js';

/** The README's fenced blocks of a language, by the name behind it or their place. */
export function readmeBlocks(language: string): [name: string, text: string][] {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const fences = readme.matchAll(/^```(\w+)(?: name=(\S+))?\n([\s\S]*?)^```$/gm);
  return [...fences].flatMap(([, tongue, name, text = ''], index) =>
    tongue === language ? [[name ?? `${language} ${index}`, text]] : [],
  );
}
