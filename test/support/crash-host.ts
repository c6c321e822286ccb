/**
 * A host in a process of its own, to be killed. It runs on the built package, and everything it imports is one: see
 * `crash-process.ts`. It prints its port as soon as it answers.
 */
import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  MessagingModule,
  type OutboxStore,
  type OutgoingSms,
  SandboxSmsTransport,
  SmsTransport,
  type SubmitResult,
  TypeormStorage,
} from 'nestjs-messaging';
import { SmppSmsTransport } from 'nestjs-messaging/smpp';

const { DATABASE_URL = '', PORT = '0', CARRIER = 'sandbox', CARRIER_LOG = '', RUN = '0', NAIVE = '' } = process.env;
const { SMSC_PORT = '', HTTP_ADAPTER = 'express' } = process.env;

/** A carrier that remembers in a file what it was given, takes its time, and delivers everything. */
class LoggingTransport extends SmsTransport {
  override readonly name = 'logging';
  override readonly repeat = CARRIER === 'at-most-once' ? 'at-most-once' : 'at-least-once';

  override async start(): Promise<void> {}

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    appendFileSync(CARRIER_LOG, batch.map(({ smsId, position }) => `${RUN} ${smsId}:${position}\n`).join(''));
    await pause(30);
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {}
}

function transport() {
  if (CARRIER === 'sandbox') return SandboxSmsTransport;
  if (SMSC_PORT === '') return LoggingTransport;
  const account = { host: '127.0.0.1', port: Number(SMSC_PORT), systemId: 'client', password: 'secret' };
  const link = { ...account, reconnectMs: 10, reconnectMaxMs: 50, throttlePauseMs: 5 };
  return SmppSmsTransport.forRoot({ links: [link, { ...link }], resendUnknown: CARRIER === 'at-least-once' });
}

/** Answers first and writes a moment later: what one gets by taking the answer for the commit. */
class HastyStorage extends TypeormStorage {
  override get outbox(): OutboxStore {
    const store = super.outbox;
    const commit: OutboxStore['commit'] = async (sends, ...rest) => {
      setTimeout(() => void store.commit(sends, ...rest), 50);
      return sends.map(({ reply }) => ({ kind: 'accepted', reply }));
    };
    return Object.create(store, { commit: { value: commit } });
  }
}

@Module({
  imports: [
    MessagingModule.forRoot({
      storage: { useFactory: () => new (NAIVE === '' ? TypeormStorage : HastyStorage)({ database: DATABASE_URL }) },
      signatures: ['INFOS', 'ALERTE', 'SERVICE'],
      dispatch: { batchSize: 5, concurrency: 4, pollMs: 100 },
      sms: {
        tariff: { base: 1, international: 3, home: 'BF' },
        transport: transport(),
        // Killed so often, a delivery may well be claimed more often than a carrier would be asked.
        delivery: { leaseMs: 1000, maxAttempts: 50 },
      },
    }),
  ],
})
class Host {}

// Only the one that is asked for: this program starts again and again.
const Adapter =
  HTTP_ADAPTER === 'fastify'
    ? (await import('@nestjs/platform-fastify')).FastifyAdapter
    : (await import('@nestjs/platform-express')).ExpressAdapter;
const app = await NestFactory.create(Host, new Adapter(), { logger: ['error'], abortOnError: false });
app.enableShutdownHooks();
await app.listen(Number(PORT), '127.0.0.1');
console.log(`PORT ${app.getHttpServer().address().port}`);
