import { parseArgs } from 'node:util';

/** A command was called with the wrong words. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const OPTIONS = {
  after: { type: 'string' },
  cidrs: { type: 'string' },
  'confirm-above': { type: 'string' },
  'daily-units': { type: 'string' },
  expires: { type: 'string' },
  grace: { type: 'string' },
  name: { type: 'string' },
  note: { type: 'string' },
  'per-minute': { type: 'string' },
  recipients: { type: 'string' },
  reference: { type: 'string' },
  scopes: { type: 'string' },
} as const;

/** The options of all commands. */
export type OperatorOptions = { readonly [name in keyof typeof OPTIONS]?: string | undefined };

/** The typed line: the command's name, its arguments, and its options. */
interface OperatorWords {
  readonly name: string;
  readonly args: readonly string[];
  readonly options: OperatorOptions;
}

/** @throws UsageError with one sentence that says what to type instead */
export function operatorWords(typed: readonly string[]): OperatorWords {
  if (typed.some((each) => each === '--help' || each === '-h')) return { name: 'help', args: [], options: {} };
  const rules = { args: [...typed], allowPositionals: true, options: OPTIONS };
  // Mistyped options are found here first, because the error that Node throws for them has several lines and a stack.
  for (const token of parseArgs({ ...rules, strict: false, tokens: true }).tokens) {
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(OPTIONS, token.name)) throw new UsageError(unknownOption(typed[token.index] ?? token.rawName));
    if (token.value === undefined || (!token.inlineValue && /^-./.test(token.value))) {
      throw new UsageError(
        `${token.rawName} needs a value after it; write a value that begins with a dash as ${token.rawName}=<value>.`,
      );
    }
  }
  const { positionals, values } = parseArgs(rules);
  const [name = 'help', ...args] = positionals;
  return { name, args, options: values };
}

function unknownOption(word: string): string {
  if (/^-[\d.]/.test(word)) {
    return `${word} begins with a dash: put it at the end of the line after --, as in "adjust demo --note Gift -- -5".`;
  }
  const names = Object.keys(OPTIONS).map((name) => `--${name}`);
  return `There is no option ${word.replace(/=.*/s, '')}: the options are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`;
}

/**
 * Refuses arguments and options that the command would not read. Otherwise `topup demo 1 000` would add one unit, for
 * example.
 *
 * @param usage the usage of the command. It lists the arguments that the command reads: `<word>`, `[--option <value>]`,
 * and `…` if more words may follow
 * @throws UsageError with one sentence
 */
export function checkWords({ name, args, options }: OperatorWords, usage: string): void {
  const [words = ''] = usage.split(' [--');
  const most = words.includes('…') ? args.length : (words.match(/<[^>]*>/g) ?? []).length;
  const more = args[most];
  if (more !== undefined) {
    throw new UsageError(
      `${name} does not know what to do with "${more}": put words that belong together in quotes, and write numbers without spaces.`,
    );
  }
  const option = Object.keys(options).find((each) => !usage.includes(`[--${each} `));
  if (option !== undefined) throw new UsageError(`${name} has no option --${option}.`);
}
