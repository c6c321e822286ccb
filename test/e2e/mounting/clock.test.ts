import { describe, expect, test } from '@jest/globals';
import { Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AccountService } from '../../../src/accounts/account-service.js';
import { Clock } from '../../../src/common/clock.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { startApp } from '../../support/http/http-apps.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { clientOf } from '../../support/mounting/mounted.js';

const opened = closeAfterEach();

/** A database whose clock is years ahead of this machine's. */
class FutureStorage extends MemoryStorage {
  readonly time = Date.UTC(2031, 0, 1);
  fault: Error | undefined;
  stopped = 0;

  override async serverNow(): Promise<number | undefined> {
    if (this.fault) throw this.fault;
    return this.time;
  }

  override async stop(): Promise<void> {
    this.stopped++;
    await super.stop();
  }
}

/** The year in which a service says that it sent something. */
async function yearOf(service: Parameters<typeof clientOf>[0]): Promise<number> {
  const order = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
  return new Date((await (await clientOf(service)).sent(order)).date_sent).getUTCFullYear();
}

describe('the time of a service', () => {
  test('is that of its database', async () => {
    const storage = { useValue: new FutureStorage() };
    expect(await yearOf(opened(await startMessaging('express', { storage })))).toBe(2031);
  });

  test('is that of the clock that the host provides, whatever the database says', async () => {
    const storage = { useValue: new FutureStorage() };
    const clock = { useValue: new FakeClock(Date.UTC(2001, 5, 1)) };
    expect(await yearOf(opened(await startMessaging('express', { storage, clock })))).toBe(2001);
  });

  test('is that of the clock that a test substitutes', async () => {
    @Module({ imports: [MessagingModule.forRoot({ ...OPTIONS, storage: { useValue: new FutureStorage() } })] })
    class Host {}
    const clock = new FakeClock(Date.UTC(2001, 5, 1));
    const module = await Test.createTestingModule({ imports: [Host] })
      .overrideProvider(Clock)
      .useValue(clock)
      .compile();
    expect(await yearOf(opened(await startApp(module, 'express')))).toBe(2001);
  });

  test('is that of the machine if the storage has none', async () => {
    const storage = new MemoryStorage();
    const app = opened(await startMessaging('express', { storage: { useValue: storage } }));
    const [before, { createdAt }] = [
      Date.now(),
      await app.app.get(AccountService, { strict: false }).createAccount({ name: 'A' }),
    ];
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(createdAt).toBeLessThanOrEqual(Date.now());
  });

  test('is needed at the start; without it the storage is closed again', async () => {
    const storage = new FutureStorage();
    storage.fault = new StorageUnavailableError('The database is closed.');
    await expect(startMessaging('express', { storage: { useValue: storage } })).rejects.toThrow(storage.fault);
    expect(storage.stopped).toBe(1);
  });
});
