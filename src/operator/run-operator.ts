import type { INestApplicationContext } from '@nestjs/common';
import { MessagingError, MessagingOptionsError, StorageUnavailableError } from '../common/errors.js';
import { en } from '../common/text/catalogue.en.js';
import { renderText } from '../common/text/catalogue.js';
import { COMMANDS, usage } from './commands.js';
import { checkWords, operatorWords, UsageError } from './words.js';

/** A program with the operator's commands. */
export interface OperatorProgram {
  /** The words that are typed before a command, for the list of commands. Example: `npx nestjs-messaging`. */
  readonly name: string;
  /**
   * Opens the services on their database, without deliveries. It is called after the words were checked.
   * @param mode with `readOnly` the command changes nothing, so `open` must not change the schema either
   * (`migrations: 'check'`)
   */
  open(mode: { readonly readOnly: boolean }): Promise<INestApplicationContext>;
  /** Returns a sentence about an error that the operator can correct; undefined: the default sentence is printed. */
  explain?(error: unknown): string | undefined;
}

/**
 * Runs one of the operator's commands: accounts, keys, balances, signatures, opt-outs. Results are printed to the
 * standard output, and everything else to the standard error. A new key is printed only once.
 *
 * @param typed the command and its arguments
 * @returns the exit code: 0 for success, 2 if the command is mistyped, 1 for every other error
 *
 * @example
 * ```ts
 * const open = () => NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
 * process.exitCode = await runOperator({ name: 'npm run operator --', open }, process.argv.slice(2));
 * ```
 */
export async function runOperator(program: OperatorProgram, typed: readonly string[]): Promise<number> {
  try {
    return await run(program, typed);
  } catch (error) {
    console.error(sentenceOf(error, program));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function run({ name: program, open }: OperatorProgram, typed: readonly string[]): Promise<number> {
  const words = operatorWords(typed);
  const { name, args, options } = words;
  if (name === 'help') {
    console.log(usage(program));
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new UsageError(`There is no command ${name}: "${program} help" lists the commands.`);
  checkWords(words, command.usage);
  const app = await open({ readOnly: command.readOnly === true });
  try {
    return await command.run(app, args, options);
  } finally {
    await app.close();
  }
}

/** One sentence about the error, or the whole error if the fault is ours. */
function sentenceOf(error: unknown, { explain }: OperatorProgram): unknown {
  const sentence = explain?.(error);
  if (sentence !== undefined) return sentence;
  if (error instanceof UsageError || error instanceof MessagingOptionsError) return error.message;
  if (error instanceof StorageUnavailableError) return `The database does not answer. ${error.reason}`;
  if (!(error instanceof MessagingError)) return error;
  if (error.code === 'error.reference_taken') {
    return `Refused: the reference "${error.values.reference}" belongs to another posting. Nothing was posted.`;
  }
  return `Refused: ${renderText(en, error.code, error.values)}.`;
}
