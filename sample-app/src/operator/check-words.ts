import { UsageError } from './usage-error.js';
import type { OperatorWords } from './words.js';

/**
 * Refuses words and options that the command would not read: `topup demo 1 000` would book one unit.
 *
 * @param usage of the command, which tells what it reads: `<word>`, `[--option <value>]`, and `…` where words go on
 * @throws UsageError with one sentence
 */
export function checkWords({ name, args, options }: OperatorWords, usage: string): void {
  const [words = ''] = usage.split(' [--');
  const most = words.includes('…') ? args.length : (words.match(/<[^>]*>/g) ?? []).length;
  const more = args[most];
  if (more !== undefined) {
    throw new UsageError(
      `${name} does not know what to do with "${more}": words that belong together are put in quotes, digits are not spaced.`,
    );
  }
  const option = Object.keys(options).find((each) => !usage.includes(`[--${each} `));
  if (option !== undefined) throw new UsageError(`${name} has no option --${option}.`);
}
