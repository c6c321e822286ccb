import { afterEach, expect, test } from '@jest/globals';
import { Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

afterEach(() => Logger.overrideLogger(false));

/** What a start logs about where SMS go. */
async function notices(sms: object = {}): Promise<unknown[]> {
  const notices: unknown[] = [];
  const collect = (line: unknown) => void (String(line).startsWith('SMS go') && notices.push(line));
  const logger: LoggerService = { log: collect, error() {}, warn: collect };
  class AppModule {}
  const messaging = MessagingModule.forRoot({ ...OPTIONS, sms: { ...OPTIONS.sms, ...sms } });
  const module = { module: AppModule, imports: [messaging] };
  const app = await NestFactory.createApplicationContext(module, { logger, abortOnError: false });
  await app.close();
  return notices;
}

test('if SMS go to the sandbox because no carrier was configured, the start says so once', async () => {
  expect(await notices()).toEqual(['SMS go to the sandbox and reach no phone: no sms.transport was given.']);
  expect(await notices({ transport: undefined })).toHaveLength(1);
});

test('it says nothing if a transport was configured, even if it is the sandbox', async () => {
  expect(await notices({ transport: RecordingTransport })).toEqual([]);
  expect(await notices({ transport: SandboxSmsTransport })).toEqual([]);
});
