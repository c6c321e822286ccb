import type { INestApplicationContext } from '@nestjs/common';
import { MessagingError, MessagingOptionsError, StorageUnavailableError } from '../common/errors.js';
import { en } from '../common/text/catalogue.en.js';
import { renderText } from '../common/text/catalogue.js';
import { COMMANDS, usage } from './commands.js';
import { checkWords, operatorWords, UsageError } from './words.js';

/** A program with the operator's commands. */
export interface OperatorProgram {
  /** What is typed before a command, for the list of commands: `npx nestjs-messaging`. */
  readonly name: string;
  /**
   * Opens the services on their database, without deliveries. It is called once the words are right.
   * @param mode with `readOnly` the command changes nothing: check the schema (`migrations: 'check'`) and do not change it
   */
  open(mode: { readonly readOnly: boolean }): Promise<INestApplicationContext>;
  /** A sentence about an error that the operator can mend; undefined: the default. */
  explain?(error: unknown): string | undefined;
}

/**
 * Runs one of the operator's commands: accounts, keys, balances, signatures, opt-outs. Results go to the standard output, a
 * key once; all else to the standard error.
 *
 * @param typed the command and its words
 * @returns the exit code: 0, 2 when the command is mistyped, 1 for everything else
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

/** One sentence, or the whole error where the fault is ours. */
function sentenceOf(error: unknown, { explain }: OperatorProgram): unknown {
  const sentence = explain?.(error);
  if (sentence !== undefined) return sentence;
  if (error instanceof UsageError || error instanceof MessagingOptionsError) return error.message;
  if (error instanceof StorageUnavailableError) return `The database does not answer. ${error.reason}`;
  if (!(error instanceof MessagingError)) return error;
  if (error.code === 'error.reference_taken') {
    return `Refused: the reference "${error.values.reference}" is that of another posting. Nothing was posted.`;
  }
  return `Refused: ${renderText(en, error.code, error.values)}.`;
}
