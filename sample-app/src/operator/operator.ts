import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { MessagingError } from 'nestjs-messaging';
import { AppModule } from '../app.module.js';
import { readConfig } from '../config/config.js';
import { ProgramLogger } from '../demo/program-logger.js';
import { databaseTrouble, sentenceOf } from '../demo/trouble.js';
import { checkWords } from './check-words.js';
import { COMMANDS, usage } from './commands.js';
import { UsageError } from './usage-error.js';
import { operatorWords } from './words.js';

async function run(): Promise<void> {
  const words = operatorWords(process.argv.slice(2));
  const { name, args, options } = words;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    console.log(usage());
    process.exitCode = name === 'help' ? 0 : 2;
    return;
  }
  checkWords(words, command.usage);
  // The same database; no routes and no deliveries.
  const app = await NestFactory.createApplicationContext(AppModule.with({ ...readConfig(), dispatch: false }), {
    abortOnError: false,
    logger: new ProgramLogger(['fatal', 'error']),
  }).catch(databaseTrouble);
  try {
    process.exitCode = await command.run(app, args, options);
  } finally {
    await app.close();
  }
}

run().catch((error: unknown) => {
  const sentence = error instanceof UsageError ? error.message : sentenceOf(error);
  if (sentence !== undefined) console.error(sentence);
  else if (error instanceof MessagingError && error.code === 'error.reference_taken') {
    console.error(`Refused: the reference "${error.values.reference}" is that of another posting. Nothing was posted.`);
  } else if (error instanceof MessagingError) console.error(`Refused: ${error.code} ${JSON.stringify(error.values)}`);
  else console.error(error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
