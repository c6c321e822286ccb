import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type INestApplicationContext, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AccountService } from '../../../src/accounts/account-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { DeliveryResult } from '../../../src/outbox/delivery/delivery-result.js';
import { type Delivery } from '../../../src/outbox/outbox-records.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { readWindow } from '../../../src/outbox/windows/read-window.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import { SmsChannel } from '../../../src/sms/sms-channel.js';
import { SmsService } from '../../../src/sms/sms-service.js';
import type { OutgoingSms, SubmitResult } from '../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { settled } from '../../support/common/settled.js';
import { phoneOf } from '../../support/http/sms-client.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { RouteDouble } from '../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

let app: INestApplicationContext;
afterEach(() => app.close());

/**
 * A batch of one SMS to each of `count` phones, claimed from the outbox of an application that does not deliver by
 * itself.
 */
async function claimed(transport: RouteDouble, count: number) {
  const clock = new FakeClock();
  const options = {
    ...OPTIONS,
    controllers: false,
    storage: MemoryStorage,
    clock: { useValue: clock },
    role: 'api' as const,
    sms: { ...OPTIONS.sms, transport: { useValue: transport } },
  };
  app = await NestFactory.createApplicationContext(MessagingModule.forRoot(options), { logger: false });
  const { id } = await app.get(AccountService).createAccount({ name: 'A' });
  await app.get(LedgerService).topUp(id, count);
  const number = Array.from({ length: count }, (_, index) => phoneOf(index));
  await app.get(SmsService).send(id, { signature: 'INFOS', content: 'Bonjour', number });
  const order = { channel: 'sms', limit: count, now: clock.now(), leaseUntil: clock.now() + 300_000, abandoned: false };
  const batch = await app.get(OutboxStore).claim(order);
  const reported = new Map<number, DeliveryResult>();
  const deliver = () =>
    app.get(SmsChannel).deliver(batch, new AbortController().signal, async (answers) => {
      for (const [{ position }, answer] of answers) reported.set(position, answer);
    });
  return { clock, accountId: id, number, batch: batch as readonly Delivery[], deliver, reported };
}

const kinds = (answers: readonly DeliveryResult[]) => answers.map(({ kind }) => kind);

test('a recipient that opted out after the send is refused, even if the transport then throws', async () => {
  const transport = new RouteDouble('x', () => {
    throw new Error('the line is cut');
  });
  const { accountId, number, deliver, reported } = await claimed(transport, 2);
  await app.get(OptOutService).add({ accountId, signature: 'INFOS' }, number.slice(1));
  await expect(deliver()).rejects.toThrow('the line is cut');
  expect([...reported]).toEqual([[1, { kind: 'refused', error: 'opted_out', unasked: true }]]);
  expect(transport.numbers).toEqual(number.slice(0, 1));
});

test('the transport learns when the validity of an SMS ends and when its window closes', async () => {
  const submitted: OutgoingSms[] = [];
  const transport = new RouteDouble('x', (sms) => {
    submitted.push(sms);
    return { kind: 'sent', carrierIds: [`id-${sms.position}`] };
  });
  const { batch, clock } = await claimed(transport, 2);
  const [plain, other] = batch;
  if (!plain || !other) throw new Error('Two SMS were claimed.');
  const validUntil = clock.now() + 60_000;
  const window = readWindow({ from: '08:00', to: '20:00', zone: 'UTC' });
  const scheduled = { ...other, messageId: 'another send', schedule: { validUntil, window } };
  await app.get(SmsChannel).deliver([plain, scheduled], new AbortController().signal, async () => undefined);
  expect(submitted.map(({ expiresAt, closesAt }) => [expiresAt, closesAt])).toEqual([
    [undefined, undefined],
    [validUntil, Date.parse('2026-11-21T20:00:00Z')],
  ]);
});

describe('a malformed result', () => {
  const bad: SubmitResult = JSON.parse('{"kind":"sent","attempts":{}}');

  test('does not affect the others of its batch', async () => {
    const transport = new RouteDouble('x', ({ position }) =>
      position === 1 ? bad : { kind: 'sent', carrierIds: [`id-${position}`] },
    );
    const { deliver, batch } = await claimed(transport, 3);
    expect(kinds(await deliver())).toEqual(['sent', 'unknown', 'sent']);
    const parts = await app.get(PartStore).parts(batch[0]?.messageId ?? '');
    expect(parts.map(({ position }) => position)).toEqual([0, 2]);
  });
});

test('while the storage is unavailable, one caller asks it for all parts of a slow batch', async () => {
  const COUNT = 20;
  let through: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    through = resolve;
  });
  const transport = new RouteDouble('x', async ({ position }) => {
    if (position === 0) await slow;
    else await new Promise<void>((resolve) => void clock.after(1000 * position, resolve));
    return { kind: 'sent', carrierIds: [`id-${position}`] };
  });
  const { clock, deliver, batch, reported } = await claimed(transport, COUNT);
  const parts = app.get(PartStore);
  const record = parts.record.bind(parts);
  let asked = 0;
  parts.record = async () => {
    asked++;
    throw new StorageUnavailableError('gone');
  };
  const delivered = deliver();
  const pass = async (ms: number) => {
    for (let gone = 0; gone < ms; gone += 500) {
      clock.advance(500);
      await settled(3);
    }
  };
  await pass(COUNT * 1000);
  asked = 0;
  await pass(10_000);
  expect(asked).toBeLessThanOrEqual(10);
  // When the storage is back, all parts are stored and reported before the slow SMS has finished.
  parts.record = record;
  await pass(5000);
  expect(reported.size).toBe(COUNT - 1);
  through();
  await delivered;
  expect(await parts.parts(batch[0]?.messageId ?? '')).toHaveLength(COUNT);
});

describe('the capacity of the SMS channel', () => {
  test('is that of the transport, less what is on the way to it', async () => {
    const transport = new RouteDouble('x');
    const { deliver } = await claimed(transport, 3);
    const channel = app.get(SmsChannel);
    expect(channel.capacity()).toBeUndefined();
    transport.capacity = () => 10;
    expect(channel.capacity()).toBe(10);
    const delivering = deliver();
    expect(channel.capacity()).toBe(7);
    await delivering;
    expect(channel.capacity()).toBe(10);
  });

  test.each<[string, () => unknown, number | undefined]>([
    ['undefined', () => undefined, undefined],
    ['no number', () => 'a lot', undefined],
    ['NaN', () => Number.NaN, undefined],
    [
      'an error',
      () => {
        throw new Error('of the host');
      },
      undefined,
    ],
    ['none', () => -5, -5],
    ['infinite', () => Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('is %s if the transport says so, and unlimited if it says nothing', async (_, given, expected) => {
    const transport = new RouteDouble('x');
    Object.assign(transport, { capacity: given });
    await claimed(transport, 1);
    expect(app.get(SmsChannel).capacity()).toBe(expected);
  });
});
