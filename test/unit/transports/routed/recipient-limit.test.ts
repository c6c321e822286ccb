import { beforeAll, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DAY_MS, MINUTE_MS } from '../../../../src/common/time.js';
import type { SubmitResult } from '../../../../src/sms/sms-transport.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';
import { anSms, RouteDouble, RoutedFixture } from '../../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const numberOf = (index: number) => `2267000${String(index).padStart(4, '0')}`;
const batchTo = (...indexes: readonly number[]) => indexes.map((index) => anSms(numberOf(index)));
const kinds = (results: readonly SubmitResult[]) => results.map(({ kind }) => kind);
const LIMIT = { count: 2, days: 30 };

test('a route sends to so many numbers and to no further one, however often', async () => {
  const transport = new RouteDouble('sim');
  const fixture = await RoutedFixture.started([{ name: 'sim', transport, distinctRecipients: LIMIT }]);
  expect(kinds(await fixture.submit(batchTo(1, 2, 3, 1)))).toEqual(['sent', 'sent', 'postponed', 'sent']);
  expect(kinds(await fixture.submit(batchTo(3, 2, 1, 4)))).toEqual(['postponed', 'sent', 'sent', 'postponed']);
  expect(new Set(transport.numbers)).toEqual(new Set([numberOf(1), numberOf(2)]));
});

test('two spellings of one phone are one number', async () => {
  const transport = new RouteDouble('sim');
  const one = { ...LIMIT, count: 1 };
  const fixture = await RoutedFixture.started([{ name: 'sim', transport, distinctRecipients: one }]);
  const batch = ['22997000001', '2290197000001', '22997000002'].map((number) => anSms(number));
  expect(kinds(await fixture.submit(batch))).toEqual(['sent', 'sent', 'postponed']);
});

test('an SMS over the limit goes to the next route', async () => {
  const [sim, other] = [new RouteDouble('sim'), new RouteDouble('other')];
  const fixture = await RoutedFixture.started([
    { name: 'sim', transport: sim, prefixes: ['226'], distinctRecipients: LIMIT },
    { name: 'other', transport: other },
  ]);
  const results = await fixture.submit(batchTo(1, 2, 3));
  expect(results.map(({ kind, route }) => [kind, route])).toEqual([
    ['sent', 'sim'],
    ['sent', 'sim'],
    ['sent', 'other'],
  ]);
  expect(other.numbers).toEqual([numberOf(3)]);
});

test('without another route it waits, at most some minutes at a time, as for a carrier that fails', async () => {
  const fixture = await RoutedFixture.started([
    { name: 'sim', transport: new RouteDouble('sim'), distinctRecipients: LIMIT },
  ]);
  const [, , third] = await fixture.submit(batchTo(1, 2, 3));
  expect(third).toMatchObject({ kind: 'postponed', error: 'recipient_limit', away: true });
  const waitMs = third?.kind === 'postponed' ? third.until - fixture.clock.now() : 0;
  expect(waitMs).toBeGreaterThanOrEqual(10 * MINUTE_MS);
  expect(waitMs).toBeLessThanOrEqual(20 * MINUTE_MS);
  // It comes back at once when a place is free.
  fixture.clock.advance(LIMIT.days * DAY_MS - MINUTE_MS);
  const [late] = await fixture.submit(batchTo(3));
  expect(late).toMatchObject({ until: fixture.clock.now() + MINUTE_MS });
});

test('a number counts for so many days after its last SMS', async () => {
  const fixture = await RoutedFixture.started([
    { name: 'sim', transport: new RouteDouble('sim'), distinctRecipients: LIMIT },
  ]);
  await fixture.submit(batchTo(1, 2));
  fixture.clock.advance(20 * DAY_MS);
  await fixture.submit(batchTo(2));
  fixture.clock.advance(10 * DAY_MS);
  // The place of number 1 is free. Number 2 counts for 20 more days.
  expect(kinds(await fixture.submit(batchTo(3, 4, 2, 1)))).toEqual(['sent', 'postponed', 'sent', 'postponed']);
  fixture.clock.advance(20 * DAY_MS);
  expect(kinds(await fixture.submit(batchTo(4, 1)))).toEqual(['postponed', 'postponed']);
});

test('a route with an open circuit, or that rests, uses up no place', async () => {
  const transport = new RouteDouble('sim', () => ({ kind: 'retry', error: 'off' }));
  const one = { count: 1, days: 1 };
  const fixture = await RoutedFixture.started([
    { name: 'sim', transport, distinctRecipients: one, breaker: { minSms: 1, failurePercent: 1, openMs: 1000 } },
  ]);
  expect(kinds(await fixture.submit(batchTo(1)))).toEqual(['retry']);
  // The circuit is open now, and the place belongs to number 1.
  fixture.clock.advance(DAY_MS - 500);
  fixture.rested.add('sim');
  await fixture.submit(batchTo(2));
  fixture.rested.delete('sim');
  transport.answer = () => ({ kind: 'sent' });
  expect(kinds(await fixture.submit(batchTo(1, 2)))).toEqual(['sent', 'postponed']);
});

test('SMS over the limit take none of the time of a paced route', async () => {
  const transport = new RouteDouble('sim');
  const fixture = await RoutedFixture.started([
    { name: 'sim', transport, segmentsPerSecond: 1, distinctRecipients: { count: 1, days: 1 } },
  ]);
  await fixture.send(numberOf(1));
  expect(kinds(await fixture.submit(batchTo(2, 3, 4, 5, 6, 7)))).toEqual(Array(6).fill('postponed'));
  fixture.clock.advance(2000);
  expect(await fixture.send(numberOf(1))).toMatchObject({ kind: 'sent' });
});

test('two processes together never send to more numbers', async () => {
  const storage = await SqliteMemory.open();
  const clock = new FakeClock();
  const most = { count: 10, days: 30 };
  const doubles = ['one', 'other'].map((name) => new RouteDouble(name));
  const fixtures = await Promise.all(
    doubles.map((transport) =>
      RoutedFixture.started([{ name: 'sim', transport, distinctRecipients: most }], { storage, clock }),
    ),
  );
  const batches = fixtures.flatMap((fixture, process) =>
    [0, 1, 2, 3].map((round) =>
      fixture.submit(batchTo(...[0, 1, 2, 3, 4].map((each) => 100 * process + 10 * round + each))),
    ),
  );
  const results = (await Promise.all(batches)).flat();
  expect(results.filter(({ kind }) => kind === 'sent')).toHaveLength(10);
  expect(new Set(doubles.flatMap(({ numbers }) => numbers)).size).toBe(10);
});

test('while the database is away, nothing is sent', async () => {
  const storage = await SqliteMemory.open();
  const transport = new RouteDouble('sim');
  const fixture = await RoutedFixture.started([{ name: 'sim', transport, distinctRecipients: LIMIT }], { storage });
  await storage.stop();
  expect(await fixture.send(numberOf(1))).toMatchObject({ kind: 'postponed', error: 'storage_away' });
  expect(transport.numbers).toEqual([]);
});
