import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { runOperator } from 'nestjs-messaging';
import { AppModule } from '../app.module.js';
import { readConfig } from '../config/config.js';
import { ProgramLogger } from '../demo/program-logger.js';
import { databaseTrouble, sentenceOf } from '../demo/trouble.js';

/** The same database; no routes and no deliveries. */
async function open({ readOnly }: { readonly readOnly: boolean }) {
  const logger = new ProgramLogger(['fatal', 'error']);
  const module = AppModule.with({ ...readConfig(), role: 'api' }, readOnly ? 'check' : 'run');
  return NestFactory.createApplicationContext(module, { abortOnError: false, logger }).catch(databaseTrouble);
}

const program = { name: 'npm run operator --', open, explain: sentenceOf };
process.exitCode = await runOperator(program, process.argv.slice(2));
