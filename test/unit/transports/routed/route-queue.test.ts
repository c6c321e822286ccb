import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TypeormStorage } from '../../../../src/messaging/typeorm-storage.js';
import { PolicyStore } from '../../../../src/outbox/policy/policy-store.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { settled } from '../../../support/common/settled.js';
import { SqliteFile } from '../../../support/databases/sqlite-file.js';
import { SqliteMemory } from '../../../support/databases/sqlite-memory.js';
import { busiestSecond, runPaced, WatchedPolicies } from '../../../support/outbox/paced-workers.js';
import { anSms, RouteDouble, RoutedFixture } from '../../../support/transports/routed-fixture.js';

beforeAll(() => Logger.overrideLogger(false));

const newPolicies = async () => (await SqliteMemory.open()).store(PolicyStore);

/** SMS that leave together may be up to a tenth of a second early or late. */
const SLACK = 1.1;

describe('a limit in segments a second', () => {
  test('holds for one worker, which uses nearly all of it', async () => {
    const { segments } = await runPaced([await newPolicies()], { sms: 200, segmentsPerSecond: 20 });
    expect(segments).toHaveLength(200);
    expect(busiestSecond(segments)).toBeLessThanOrEqual(20 * SLACK);
    expect(segments.at(-1)).toBeLessThan(11_000);
  });

  test('holds for three workers together on one store, and separately on stores of their own', async () => {
    const policies = await newPolicies();
    const { segments, shares } = await runPaced([policies, policies, policies], { sms: 300, segmentsPerSecond: 30 });
    expect(busiestSecond(segments)).toBeLessThanOrEqual(30 * SLACK);
    expect(segments.at(-1)).toBeLessThan(12_000);
    expect(shares.filter((share) => share > 20)).toHaveLength(3);
    const alone = [await newPolicies(), await newPolicies(), await newPolicies()];
    const naive = await runPaced(alone, { sms: 300, segmentsPerSecond: 30 });
    expect(busiestSecond(naive.segments)).toBeGreaterThan(60);
  });

  test('holds for two processes on one SQLite file', async () => {
    const file = new SqliteFile();
    const storages = [file.storage().useValue, file.storage().useValue];
    for (const storage of storages) await storage.start();
    const { segments, shares } = await runPaced(
      storages.map((storage) => storage.store(PolicyStore)),
      { sms: 150, segmentsPerSecond: 25 },
    );
    expect(segments).toHaveLength(150);
    expect(busiestSecond(segments)).toBeLessThanOrEqual(25 * SLACK);
    expect(shares.filter((share) => share > 10)).toHaveLength(2);
    for (const storage of storages) await storage.stop();
    await file.close();
  });

  test('counts segments, not SMS', async () => {
    const { segments } = await runPaced([await newPolicies()], {
      sms: 30,
      segmentsPerSecond: 20,
      segments: 3,
    });
    expect(segments).toHaveLength(90);
    expect(busiestSecond(segments)).toBeLessThanOrEqual(20 * SLACK + 3);
    expect(segments.at(-1)).toBeGreaterThan(4000);
  });

  test('holds if it is below one a second', async () => {
    const { segments } = await runPaced([await newPolicies()], { sms: 4, segmentsPerSecond: 0.5 });
    expect(segments.map((at) => Math.round(at / 1000))).toEqual([0, 2, 4, 6]);
  });

  test('costs a worker at most four transactions a second, however many batches there are', async () => {
    const { segments, transactions } = await runPaced([await newPolicies()], {
      sms: 2000,
      segmentsPerSecond: 400,
      batchSize: 5,
    });
    const seconds = (segments.at(-1) ?? 0) / 1000;
    expect(transactions).toBeLessThanOrEqual(4 * (seconds + 1));
  });

  test('postpones an SMS with a long wait once, not again and again', async () => {
    const { segments, postponed } = await runPaced([await newPolicies()], { sms: 400, segmentsPerSecond: 20 });
    expect(segments.at(-1)).toBeLessThan(22_000);
    expect(postponed).toBeLessThan(800);
  });

  describe('a code', () => {
    const start = async () => {
      const watch = new WatchedPolicies(await newPolicies());
      const clock = new FakeClock();
      const begun = clock.now();
      const sent: (readonly [at: number, number: string])[] = [];
      const transport = new RouteDouble('carrier', ({ number }) => {
        sent.push([clock.now() - begun, number]);
        return { kind: 'sent' };
      });
      const routes = [{ name: 'a', transport, segmentsPerSecond: 20 }];
      const fixture = await RoutedFixture.started(routes, { guards: watch, clock });
      const reserved = async () => {
        do await settled(3);
        while (watch.open > 0);
      };
      return { clock, fixture, sent, reserved, watch };
    };

    test('takes the next reserved time, without waiting for the SMS with which it would share a hand-over', async () => {
      const { clock, fixture, sent, reserved } = await start();
      void fixture.submit(['1', '2', '3', '4', '5'].map((number) => anSms(number)));
      await reserved();
      clock.advance(60);
      await settled();
      expect(sent).toHaveLength(2);
      void fixture.send('9', { priority: 'code' });
      await settled();
      clock.advance(40);
      await reserved();
      expect(sent.slice(2)).toEqual([[100, '9']]);
      for (let left = 200; left > 0; left -= 50) {
        clock.advance(50);
        await settled();
      }
      expect(sent.slice(3)).toEqual([
        [200, '3'],
        [200, '4'],
        [250, '5'],
      ]);
    });

    test('is reserved for at once, even right after another reservation', async () => {
      const { clock, fixture, sent, reserved, watch } = await start();
      void fixture.send('1');
      await reserved();
      clock.advance(60);
      void fixture.send('2');
      await reserved();
      expect([watch.made, sent]).toEqual([1, [[0, '1']]]);
      void fixture.send('9', { priority: 'code' });
      await reserved();
      expect([watch.made, sent.at(1)]).toEqual([2, [60, '9']]);
    });
  });

  describe('if nothing can be reserved', () => {
    test('nothing is sent while the storage is unavailable, and no attempt is spent', async () => {
      const storage = new TypeormStorage({ database: 'sqlite::memory:' });
      await storage.start();
      const guards = storage.store(PolicyStore);
      const transport = new RouteDouble('carrier');
      const fixture = await RoutedFixture.started([{ name: 'a', transport, segmentsPerSecond: 10 }], { guards });
      await storage.stop();
      const now = fixture.clock.now();
      expect(await fixture.send('22670000001')).toEqual({
        kind: 'postponed',
        error: 'rate_limited',
        until: now + 1000,
      });
      expect(transport.batches).toEqual([]);
    });

    test('a wait ends when the process stops', async () => {
      const watch = new WatchedPolicies(await newPolicies());
      const transport = new RouteDouble('carrier');
      const clock = new FakeClock();
      const routes = [{ name: 'a', transport, segmentsPerSecond: 2 }];
      const fixture = await RoutedFixture.started(routes, { guards: watch, clock });
      const stopping = new AbortController();
      const results = fixture.submit(
        [1, 2, 3, 4].map((digit) => anSms(`2267000000${digit}`)),
        stopping.signal,
      );
      await settled();
      stopping.abort();
      expect((await results).map(({ kind, error }) => [kind, error])).toEqual([
        ['sent', undefined],
        ['postponed', 'stopping'],
        ['postponed', 'stopping'],
        ['postponed', 'rate_limited'],
      ]);
      expect(transport.numbers).toHaveLength(1);
    });

    test('a route that has begun to rest meanwhile passes its waiting SMS on', async () => {
      const first = new RouteDouble('first', () => ({ kind: 'unknown', error: 'no_answer' }));
      const second = new RouteDouble('second');
      const fixture = await RoutedFixture.started([
        { name: 'a', transport: first, segmentsPerSecond: 2, breaker: { minSms: 1 } },
        { name: 'b', transport: second, weight: 0 },
      ]);
      const results = fixture.submit([anSms('22670000001'), anSms('22670000002')]);
      await settled();
      fixture.clock.advance(500);
      expect(await results).toMatchObject([{ kind: 'unknown' }, { kind: 'sent', route: 'b' }]);
    });
  });
});
