import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { MessagingError, MessagingOptionsError, StorageUnavailableError } from 'nestjs-messaging';
import { AppModule } from './app.module.js';
import { ConfigError, readConfig } from './config.js';
import { COMMANDS, UsageError, usage } from './operator-commands.js';

async function run(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { grace: { type: 'string' }, note: { type: 'string' }, reference: { type: 'string' } },
  });
  const [name = 'help', ...args] = positionals;
  const command = COMMANDS[name];
  if (!command) {
    console.log(usage());
    process.exitCode = name === 'help' ? 0 : 2;
    return;
  }
  // The same database; no routes and no deliveries.
  const app = await NestFactory.createApplicationContext(AppModule.with({ ...readConfig(), dispatch: false }), {
    abortOnError: false,
    logger: ['fatal', 'error'],
  });
  try {
    process.exitCode = await command.run(app, args, values);
  } finally {
    await app.close();
  }
}

run().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof MessagingOptionsError || error instanceof UsageError;
  if (known) console.error(error.message);
  else if (error instanceof StorageUnavailableError) console.error(`The database does not answer. ${error.reason}`);
  else if (error instanceof MessagingError) console.error(`Refused: ${error.code} ${JSON.stringify(error.values)}`);
  else console.error(error);
  process.exitCode = 1;
});
