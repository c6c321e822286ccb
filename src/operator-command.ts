#!/usr/bin/env node
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingOptionsError } from './common/errors.js';
import { runOperator } from './operator/run-operator.js';
import { SandboxSmsTransport } from './sandbox/sandbox-sms-transport.js';
import { SmsModule } from './sms.module.js';
import { TypeormStorage } from './storage/typeorm/typeorm-storage.js';

/** Opens the services on the database of `DATABASE_URL`. No command sends anything, so names and prices are never used. */
async function open(): Promise<INestApplicationContext> {
  const { DATABASE_URL: url } = process.env;
  if (!url) throw new MessagingOptionsError('DATABASE_URL is missing: sqlite:<path>, postgres://… or mysql://….');
  const services = SmsModule.forRoot({
    storage: TypeormStorage.forRoot({ url }),
    controllers: false,
    dispatch: { enabled: false },
    signatures: ['OPERATOR'],
    tariff: { base: 0, international: 0, home: 'BF' },
    transport: SandboxSmsTransport,
  });
  return NestFactory.createApplicationContext(services, { logger: false, abortOnError: false });
}

/** The storage names its option; whoever runs this knows the setting. */
function explain(error: unknown): string | undefined {
  if (!(error instanceof MessagingOptionsError)) return undefined;
  return error.message.replace(/^Option storage:? /, 'DATABASE_URL: ');
}

void runOperator({ name: 'npx nestjs-messaging', open, explain }, process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
