import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sample-app.js';

/** The project's papers, as paths from its root; the README first. */
export function papers(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return [
    ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
    ...docs
      .filter((path) => path.endsWith('.md'))
      .map((path) => `docs/${path.replaceAll('\\', '/')}`)
      .sort(),
  ];
}

export function readPaper(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** A fenced block of a paper. `name`: the one behind its language, else its paper and its place there. */
interface Block {
  readonly language: string;
  readonly name: string;
  readonly text: string;
}

export function blocksOf(path: string): Block[] {
  const fences = [...readPaper(path).matchAll(/^```(\w+)(?: name=(\S+))?\n([\s\S]*?)^```$/gm)];
  return fences.map(([, language = '', name, text = ''], index) => ({
    language,
    name: name ?? `${path} ${language} ${index}`,
    text,
  }));
}

/** The fenced blocks of a language in all papers, by their names. */
export function snippets(language: string): [name: string, text: string][] {
  const blocks = papers().flatMap(blocksOf);
  return blocks.filter((block) => block.language === language).map(({ name, text }) => [name, text]);
}
