#!/usr/bin/env node
import { randomBytes } from 'node:crypto';
import { type INestApplicationContext, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';
import { storeProvider } from '../core/capability.js';
import { TypeormStorage } from '../messaging/typeorm-storage.js';
import { AddressStore } from '../msgapp/address-store.js';
import { ContactStore } from '../msgapp/contacts/contact-store.js';
import { MSGAPP_ERASURES } from '../msgapp/msgapp-purges.js';
import { ReceivedMessageStore } from '../msgapp/received/received-message-store.js';
import { OtpModule } from '../otp/otp.module.js';
import { SandboxSmsTransport } from '../sandbox/sandbox-sms-transport.js';
import { runOperator } from './run-operator.js';

/**
 * The rules that erase a number from the tables of messaging apps. Their module is not mounted here, because it would
 * start transports. Their tables exist nevertheless.
 */
const ERASURES: Provider[] = [
  ...[ContactStore, ReceivedMessageStore, AddressStore].map(storeProvider),
  ...MSGAPP_ERASURES,
];

@Module({})
class OperatorCommand {}

/**
 * Opens the services on the database of `DATABASE_URL`. No command sends anything, so the signature, the prices and the
 * pepper are never used. One-time passcodes are mounted, because erasing a number also erases its codes.
 */
async function open({ readOnly }: { readonly readOnly: boolean }): Promise<INestApplicationContext> {
  const { DATABASE_URL: url, RETENTION_SECRET: secret, RETENTION_PREVIOUS_SECRET: previous } = process.env;
  if (!url) throw new MessagingOptionsError('DATABASE_URL is missing: sqlite:<path>, postgres://… or mysql://….');
  const services = OtpModule.forRoot({
    storage: TypeormStorage.forRoot({ url, migrations: readOnly ? 'check' : 'run' }),
    controllers: false,
    role: 'api',
    signatures: ['OPERATOR'],
    sms: { tariff: { base: 0, international: 0, home: 'BF' }, transport: SandboxSmsTransport },
    otp: { pepper: randomBytes(48).toString('base64') },
    retention: { secret: secret || undefined, previousSecrets: previous ? [previous] : [] },
  });
  return NestFactory.createApplicationContext(
    { module: OperatorCommand, imports: [services], providers: ERASURES },
    { logger: false, abortOnError: false },
  );
}

/** Replaces the names of options in an error by the environment variables that the operator sets. */
function explain(error: unknown): string | undefined {
  if (!(error instanceof MessagingOptionsError)) return undefined;
  return error.message
    .replace(/^Option storage:? /, 'DATABASE_URL: ')
    .replace(/^Option retention\.secret/, 'RETENTION_SECRET')
    .replace(/^Option retention\.previousSecrets(\[0\])?/, 'RETENTION_PREVIOUS_SECRET')
    .replace('retention.secret', 'RETENTION_SECRET');
}

void runOperator({ name: 'npx nestjs-messaging', open, explain }, process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
