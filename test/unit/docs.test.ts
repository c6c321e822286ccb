import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadMermaid } from '../support/docs/mermaid.js';
import { docs, readDoc, snippets } from '../support/docs/readme.js';
import { ROOT } from '../support/sample-app/sample-app.js';

/** The text of a page without its code blocks. */
function prose(path: string): string {
  return readDoc(path).replace(/^```[\s\S]*?^```$/gm, '');
}

/** The anchor that GitHub gives to a heading. */
function anchorOf(heading: string): string {
  const plain = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '');
  return plain.trim().replace(/\s/g, '-');
}

function anchors(path: string): string[] {
  return [...prose(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

/** The relative links of a page that lead to no page, or to a heading that does not exist. */
function deadLinks(path: string): string[] {
  const links = [...prose(path).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : posix.join(dirname(path), file);
    if (target.endsWith('.png')) return !existsSync(join(ROOT, target));
    if (target !== 'LICENSE' && !docs().includes(target)) return true;
    return anchor !== undefined && !anchors(target).includes(anchor);
  });
}

/** An option as it is declared: its name, and the numbers in its docstring. */
interface Declared {
  readonly name: string;
  /** `1000`, or `1 to 1000`, as the docs write them. */
  readonly numbers: readonly string[];
}

const INTERFACES =
  /^export interface (?!MessagingController|Accept|Client|Batcher|Posting|\w*Call|\w*Send)(?:\w*Options|OtpLimits|CountryBreaker|ConnectLimits|MsgappTariff|DeliveryTiming|SessionTiming|Pacing|RouteRules|CoreGraphOptions)\b[^{]*\{\n([\s\S]*?)^\}/gm;

/** The options of all interfaces that a host writes into `forRoot`. Options of single calls are not among them. */
function declaredOptions(): Declared[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return (
    files
      // The code of the page itself has no option that a host writes.
      .filter((path) => path.endsWith('.ts') && !path.startsWith(join('dashboard', 'web')))
      .flatMap((path) => {
        const source = readFileSync(join(ROOT, 'src', path), 'utf8');
        return [...source.matchAll(INTERFACES)].flatMap(([, body = '']) => {
          const fields = body.matchAll(/(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?^ +readonly (\w+)\??:/gm);
          return [...fields].map(([, docstring = '', name = '']) => ({ name, numbers: numbersOf(docstring) }));
        });
      })
  );
}

/** The default and the range of an option, if the docstring gives them in numbers. */
function numbersOf(docstring: string): string[] {
  const text = docstring.replace(/\s*\n\s*\*\s*/g, ' ');
  const numbers = /Default (\d[\d ]*\d|\d)(?![\d-])/.exec(text)?.slice(1, 2) ?? [];
  const range = /(\d[\d. ]* to \d[\d ]*\d|\d[\d.]* to \d)(?!\d)/.exec(text)?.[1];
  return [...numbers, ...(range === undefined ? [] : [range])].map(plain);
}

/** The text with its numbers written without spaces between the digits. */
function plain(text: string): string {
  return text.replace(/(?<=\d) (?=\d)/g, '');
}

describe('the docs', () => {
  test('the README has at most 12 000 bytes', () => {
    expect(Buffer.byteLength(readDoc('README.md'))).toBeLessThanOrEqual(12_000);
  });

  test.each(docs())('%s: every link leads somewhere', (path) => {
    expect(deadLinks(path)).toEqual([]);
  });

  test('code refers only to pages that exist', () => {
    const named = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .flatMap((file) => readFileSync(join(ROOT, 'src', file), 'utf8').match(/(?<![\w/.-])[\w/-]+\.md\b/g) ?? []);
    expect(named).toContain('docs/management-api.md');
    expect(named.filter((doc) => !docs().includes(doc))).toEqual([]);
  });

  test.each(docs())('%s: every file and folder of this repository that it names exists', (path) => {
    const places = /`((?:src|test|bench|bundle)\/[^`\s*<]*|[\w-]+(?:\/[\w.-]+)+\.tsx?)`/g;
    const named = [...prose(path).matchAll(places)].map(([, name = '']) => name);
    expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  test('another page links to each page', () => {
    const linked = docs().flatMap((path) =>
      [...prose(path).matchAll(/\]\(([^)\s#]+)/g)].map(([, link = '']) => posix.join(dirname(path), link)),
    );
    expect(docs().filter((path) => path !== 'README.md' && !linked.includes(path))).toEqual([]);
  });

  const options = declaredOptions();
  const text = readDoc('docs/options.md');

  test('every option is mentioned', () => {
    const names = [...new Set(options.map(({ name }) => name))];
    expect(names).toEqual(expect.arrayContaining(['inFlight', 'maxAwayMs', 'perHour', 'segmentsPerSecond']));
    expect(names.filter((name) => !new RegExp(`[\`.{, ]${name}[\`:.,} ]`).test(text))).toEqual([]);
  });

  test('the tables give the declared defaults and ranges', () => {
    const rows = plain(text)
      .split('\n')
      .filter((line) => line.startsWith('|'));
    const isDocumented = ({ name, numbers }: Declared) =>
      rows.some((row) => {
        const [, first = ''] = row.split('|');
        return (
          new RegExp(`\\b${name}\\b`).test(first) &&
          numbers.every((number) => new RegExp(`(?<!\\d)${number}(?!\\d)`).test(row))
        );
      });
    const numbered = options.filter(({ numbers }) => numbers.length > 0);
    expect(numbered.length).toBeGreaterThan(40);
    expect(numbered.filter((option) => !isDocumented(option))).toEqual([]);
  });
});

describe('pictures', () => {
  const mermaid = loadMermaid();

  test('show a message, a delivery and a session', () => {
    const texts = snippets('mermaid').map(([, text]) => text);
    expect(texts.map((text) => /Outbox|unknown|reconnecting/.exec(text)?.[0])).toEqual(
      expect.arrayContaining(['Outbox', 'unknown', 'reconnecting']),
    );
  });

  test.each(snippets('mermaid'))('%s can be drawn', async (_, text) => {
    expect((await mermaid.parse(text)).diagramType).toMatch(/^(flowchart-v2|stateDiagram|sequence)$/);
    expect(text).not.toContain('<');
  });

  test.each([
    ['flowchart', 'flowchart LR\n  a["open --> b'],
    ['states', 'stateDiagram-v2\n  a --> : nowhere'],
    ['sequence', 'sequenceDiagram\n  a->>b without a colon'],
    ['no diagram', 'a --> b'],
  ])('a mistake in a picture is found: %s', async (_, text) => {
    await expect(mermaid.parse(text)).rejects.toThrow();
  });
});
