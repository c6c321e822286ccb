import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule, PostgresNotifier, TypeormStorage } from 'nestjs-messaging';
import { RedisNotifier } from 'nestjs-messaging/redis';
import { type OutgoingSms, SmsTransport, type SubmitResult } from 'nestjs-messaging/transports';

/** How processes are notified: not at all, by PostgreSQL, or by Redis. */
export type Notified = 'polls' | 'postgres' | 'redis';

/** Reports each message that a carrier would get to the parent process. */
class ReportingTransport extends SmsTransport {
  override readonly name = 'telling';
  override readonly repeat = 'at-most-once';

  override async start(): Promise<void> {}

  override async submit(batch: readonly OutgoingSms[]): Promise<readonly SubmitResult[]> {
    for (const { smsId } of batch) process.send?.(smsId);
    return batch.map(() => ({ kind: 'sent', final: 'delivered' }));
  }

  override async stop(): Promise<void> {}
}

/** Starts one of two processes on a PostgreSQL database: one accepts, and the other delivers. */
export function startNotified(url: string, by: Notified, delivers: boolean) {
  @Module({
    imports: [
      MessagingModule.forRoot({
        storage: TypeormStorage.forRoot({ url }),
        ...(by === 'postgres' && { notifier: PostgresNotifier.forRoot({ url }) }),
        ...(by === 'redis' && { notifier: RedisNotifier.forRoot({ url: 'redis://127.0.0.1:6379', prefix: 'bench:' }) }),
        signatures: ['INFOS'],
        role: delivers ? 'all' : 'api',
        sms: { tariff: { base: 1, international: 1, home: 'BF' }, transport: ReportingTransport },
      }),
    ],
  })
  class Host {}
  return NestFactory.createApplicationContext(Host, { logger: ['warn', 'error'] });
}

const [, , url, by] = process.argv;
if (process.send && url && (by === 'polls' || by === 'postgres' || by === 'redis')) {
  await startNotified(url, by, true);
  process.on('disconnect', () => process.exit());
  process.send('ready');
}
