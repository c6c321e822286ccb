import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../sample-app/sample-app.js';

/** The pages of the documentation, as paths from its root; the README first. */
export function docs(): string[] {
  const files = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  return [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...files
      .filter((path) => path.endsWith('.md'))
      .map((path) => `docs/${path.replaceAll('\\', '/')}`)
      .sort(),
  ];
}

export function readDoc(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** A fenced code block of a page. `name`: the name given after its language, otherwise its page and its position there. */
interface Block {
  readonly language: string;
  readonly name: string;
  readonly text: string;
}

export function blocksOf(path: string): Block[] {
  const fences = [...readDoc(path).matchAll(/^```(\w+)(?: name=(\S+))?\n([\s\S]*?)^```$/gm)];
  return fences.map(([, language = '', name, text = ''], index) => ({
    language,
    name: name ?? `${path} ${language} ${index}`,
    text,
  }));
}

/** The fenced code blocks of one language on all pages, by their names. */
export function snippets(language: string): [name: string, text: string][] {
  const blocks = docs().flatMap(blocksOf);
  return blocks.filter((block) => block.language === language).map(({ name, text }) => [name, text]);
}
