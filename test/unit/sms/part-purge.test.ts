import { afterEach, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { Purger } from '../../../src/outbox/purger.js';
import { partPurge } from '../../../src/sms/receipts/part-removal.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { aReceipt, aTakenSms } from '../../contract/storage/fixtures.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';

afterEach(() => {
  jest.restoreAllMocks();
});

test('deletes old parts without logging, and reports how many receipts matched nothing', async () => {
  const warnings: string[] = [];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void warnings.push(String(line)));
  const parts = (await SqliteMemory.open()).store(PartStore);
  const clock = new FakeClock();
  const now = clock.now();
  const purge = new Purger(clock, new Rounds(clock));
  purge.add(partPurge(parts));
  purge.onApplicationBootstrap();

  await parts.record([aTakenSms(1, { expiresAt: now + 1 })], now);
  clock.advance(600_000);
  await settled();
  expect(await parts.parts(aTakenSms(1).messageId)).toEqual([]);
  expect(warnings).toEqual([]);

  const receipts = Array.from({ length: 1500 }, (_, index) => aReceipt(`x${index}`));
  await parts.receive(receipts, { now, until: clock.now() + 1, most: 5000 });
  clock.advance(600_000);
  await until(() => warnings.length > 1);
  expect(warnings).toEqual([1000, 500].map((count) => expect.stringContaining(`${count} ids of receipts`)));
  purge.onApplicationShutdown();
});
