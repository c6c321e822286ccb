import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { runOperator } from 'nestjs-messaging';
import { AppModule } from '../app.module.js';
import { readConfig } from '../config/config.js';
import { ProgramLogger } from '../demo/program-logger.js';
import { databaseTrouble, endOfStart, sentenceOf } from '../demo/trouble.js';
import { OWN_COMMANDS, type OwnCommand } from './own-commands.js';

/** Opens the services on the same database, without routes and deliveries. */
async function open({ readOnly }: { readonly readOnly: boolean }) {
  const logger = new ProgramLogger(['fatal', 'error']);
  const module = AppModule.with({ ...readConfig(), role: 'api' }, readOnly ? 'check' : 'run');
  return NestFactory.createApplicationContext(module, { abortOnError: false, logger }).catch(databaseTrouble);
}

const program = { name: 'npm run operator --', open, explain: sentenceOf };
const typed = process.argv.slice(2);
const [name = 'help', ...words] = typed;
const own = Object.hasOwn(OWN_COMMANDS, name) ? OWN_COMMANDS[name] : undefined;
if (own) await runOwn(own, words).catch(endOfStart);
else process.exitCode = await runOperator(program, typed);
if (name === 'help') for (const { usage } of Object.values(OWN_COMMANDS)) console.log(`  ${program.name} ${usage}`);

async function runOwn(command: OwnCommand, given: readonly string[]): Promise<void> {
  await command.run({ config: readConfig(), open: () => open({ readOnly: false }) }, given);
}
