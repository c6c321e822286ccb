import { readdirSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { runOperator } from '../../../src/operator/run-operator.js';
import { operatorWords, UsageError } from '../../../src/operator/words.js';
import { buildSampleApp, runSampleApp, sampleFolder } from '../../support/sample-app/sample-app.js';
import { operate } from '../../support/sample-app/sample-operator.js';

beforeAll(buildSampleApp);

describe('a mistyped operator command', () => {
  const folder = sampleFolder();

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** The output of the command in this process, in which nothing may be opened for it. */
  const typed = async (...args: string[]) => {
    const lines: unknown[] = [];
    const print = (line: unknown) => void lines.push(line);
    jest.spyOn(console, 'log').mockImplementation(print);
    jest.spyOn(console, 'error').mockImplementation(print);
    const open = () => Promise.reject(new Error('something was opened'));
    const code = await runOperator({ name: 'npm run operator --', open }, args);
    return { code, output: lines.join('\n') };
  };

  const noOption = (word: string) =>
    `There is no option ${word}: the options are --after, --cidrs, --confirm-above, --daily-units, --expires, --grace, --name, --note, --per-minute, --recipients, --reference and --scopes.`;
  const dash = (word: string) =>
    `${word} begins with a dash: put it at the end of the line after --, as in "adjust demo --note Gift -- -5".`;
  const noValue = (option: string) =>
    `${option} needs a value after it; write a value that begins with a dash as ${option}=<value>.`;

  const tooMuch = (name: string, word: string) =>
    `${name} does not know what to do with "${word}": put words that belong together in quotes, and write numbers without spaces.`;

  test.each<[line: string, sentence: string]>([
    ['key:rotate x --grce 0', noOption('--grce')],
    ['key:rotate x --grce=0', noOption('--grce')],
    ['topup x 5 -n Gift', noOption('-n')],
    ['topup x -5', dash('-5')],
    ['topup x -50 --note Gift', dash('-50')],
    ['topup x -1.5', dash('-1.5')],
    ['topup x 5 --note', noValue('--note')],
    ['topup x 5 --note --reference inv-1', noValue('--note')],
  ])('is answered with one sentence that says what to do: %s', (line, sentence) => {
    expect(() => operatorWords(line.split(' '))).toThrow(new UsageError(sentence));
  });

  test.each([
    ['key:rotate x --grce 0', noOption('--grce')],
    ['topup x -5', dash('-5')],
    ['topup x 1 000', tooMuch('topup', '000')],
    ['signature:register x MY SHOP', tooMuch('signature:register', 'SHOP')],
    ['ledger:check x', tooMuch('ledger:check', 'x')],
    ['topup x 5 --grace 5', 'topup has no option --grace.'],
  ])('is answered with nothing else, and nothing is opened for it: %s', async (line, sentence) => {
    expect(await typed(...line.split(' '))).toEqual({ code: 2, output: sentence });
  });

  test('gets the same sentence from the program, which makes no file', async () => {
    const { code, output } = await runSampleApp(folder, 'operator/operator.js', ['topup', 'x', '-5']);
    expect([code, output]).toEqual([2, `${dash('-5')}\n`]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each(['nonsense', 'constructor'])('is told where the commands are listed: %s', async (name) => {
    const sentence = `There is no command ${name}: "npm run operator -- help" lists the commands.`;
    expect(await typed(name)).toEqual({ code: 2, output: sentence });
  });

  test.each([[['help']], [[]], [['--help']], [['topup', '-h']]])('%j lists the commands', async (args) => {
    const { code, output } = await operate(folder, args);
    expect([code, output]).toEqual([0, expect.stringMatching(/^Works on the database of DATABASE_URL:/)]);
    expect(output).toContain('npm run operator -- account:create <name>');
  });

  test('is told what is missing or not a number, with the same exit code', async () => {
    const missing = await operate(folder, ['topup', 'x']);
    expect([missing.code, missing.output.trim()]).toEqual([2, '<units> is missing.']);
    const many = await operate(folder, ['topup', 'x', 'many']);
    expect([many.code, many.output.trim()]).toEqual([2, '<units> must be an integer; it is "many".']);
  });

  test('after -- a word may begin with a dash, and the command refuses what it cannot do', async () => {
    const { code, output } = await operate(folder, ['topup', 'x', '--', '-5']);
    expect([code, output]).toEqual([
      1,
      'Refused: The number of units must be an integer from 1 to 10^12; only a correction may be negative.\n',
    ]);
  });
});
