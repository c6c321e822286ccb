import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jestArguments } from '../../support/jest/jest-arguments.mjs';
import { ROOT } from '../../support/sample-app/sample-app.js';

const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

let folder: string;

/** Replaces npm: prints the arguments of `npm run jest`, and does nothing else. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'messaging-npm-'));
  writeFileSync(
    join(folder, 'npm'),
    `#!${process.execPath}\nconst words = process.argv.slice(2).filter((word) => word !== '-s');
if (words[1] === 'jest') console.log('JEST ' + words.slice(words[2] === '--' ? 3 : 2).join(' '));\n`,
  );
  chmodSync(join(folder, 'npm'), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The arguments that a script of package.json passes to `npm run jest`. */
function argumentsOf(script: string, added: readonly string[]): string[] {
  const command = [scripts[script], ...added].join(' ');
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
  const output = execFileSync(command, { shell: true, cwd: ROOT, env, encoding: 'utf8' });
  return (/^JEST (.*)$/m.exec(output)?.[1] ?? '').split(' ');
}

const FILE = 'test/unit/outbox/decide.test.ts';
const PROJECTS = [
  'unit',
  'e2e',
  'client',
  'browser',
  'services',
  'typeorm-0.3',
  'programs',
  'carriers',
  'observability',
];

test('the command of docs/testing.md for a single file runs only that file', () => {
  const [, ...flags] = (scripts.jest ?? '').split(' ');
  const words = [...flags, '--selectProjects', 'unit', FILE, '--listTests'];
  const output = execFileSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
  expect(output.match(/^\S+\.test\.ts$/gm)).toEqual([join(ROOT, FILE)]);
});

test.each([
  [
    ['--selectProjects', 'unit', FILE],
    [FILE, '--selectProjects', 'unit'],
  ],
  [
    ['--selectProjects', 'unit', 'e2e', FILE, 'x'],
    [FILE, 'x', '--selectProjects', 'unit', 'e2e'],
  ],
  [
    ['--selectProjects', 'unit', '--', FILE],
    [FILE, '--selectProjects', 'unit'],
  ],
  [
    ['-t', 'kill', '--selectProjects', 'unit', FILE],
    ['-t', 'kill', FILE, '--selectProjects', 'unit'],
  ],
  [
    ['--selectProjects', 'unit', '-t', 'kill', FILE],
    ['-t', 'kill', FILE, '--selectProjects', 'unit'],
  ],
  [
    [FILE, '--selectProjects', 'unit'],
    [FILE, '--selectProjects', 'unit'],
  ],
  [[FILE], [FILE]],
])('%j are given to Jest as %j', (words, given) => {
  expect(jestArguments(words, PROJECTS)).toEqual(given);
});

test.each([
  ['test', ['unit', 'e2e']],
  ['test:client', ['client']],
  ['test:browser', ['browser']],
  ['test:services', ['services', 'typeorm-0.3']],
  ['test:programs', ['programs']],
  ['test:carriers', ['carriers']],
  ['test:observability', ['observability']],
])('npm run %s accepts a path and an option after it', (script, projects) => {
  const given = jestArguments(argumentsOf(script, [FILE, '-t', 'kill']), PROJECTS);
  const at = given.indexOf('--selectProjects');
  expect(given.slice(at + 1)).toEqual(projects);
  expect(given.slice(0, at).join(' ')).toContain(`${FILE} -t kill`);
});
