import { afterEach, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { Purger } from '../../../src/outbox/purger.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const EVERY_MS = 600_000;

afterEach(() => {
  jest.restoreAllMocks();
});

test('a purge that is under way when the application stops finishes, and is the last one', async () => {
  const clock = new FakeClock();
  const gate = new Gate();
  let rounds = 0;
  const purge = new Purger(clock, new Rounds(clock));
  purge.add({
    what: 'things',
    purge: async (_now, limit) => {
      rounds++;
      await gate.opened;
      return limit;
    },
  });
  purge.onApplicationBootstrap();
  clock.advance(EVERY_MS);
  await settled();
  purge.onApplicationShutdown();
  gate.open();
  await settled(20);
  clock.advance(EVERY_MS);
  await settled(20);
  expect(rounds).toBe(1);
});

test('each rule has its own age, interval and batch size, and a rule that fails or hangs does not stop the others', async () => {
  const clock = new FakeClock();
  const start = clock.now();
  const purge = new Purger(clock, new Rounds(clock));
  const calls: (readonly [string, number, number])[] = [];
  const seen = (what: string, answer: () => Promise<number>) => (before: number, limit: number) => {
    calls.push([what, before - clock.now(), limit]);
    return answer();
  };
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  let left = 5;
  purge.add({ what: 'hangs', purge: seen('hangs', () => new Promise(() => undefined)) });
  purge.add({ what: 'fails', purge: seen('fails', () => Promise.reject(new Error('down'))) });
  purge.add({
    what: 'few',
    batchSize: 2,
    keepMs: 5000,
    everyMs: 1000,
    purge: seen('few', async () => Math.min(2, left--)),
  });
  purge.onApplicationBootstrap();
  clock.advance(1000);
  await settled(20);
  expect(calls).toEqual(Array.from({ length: 5 }, () => ['few', -5000, 2]));
  calls.length = 0;
  left = 0;
  clock.advance(EVERY_MS - 1000);
  await settled(20);
  clock.advance(EVERY_MS);
  await settled(20);
  expect(clock.now() - start).toBe(2 * EVERY_MS);
  expect(calls.map(([what]) => what).sort()).toEqual(['fails', 'fails', 'few', 'few', 'hangs']);
  purge.onApplicationShutdown();
});

test('a rule replaces an earlier rule of its name, for example that of another channel', async () => {
  const clock = new FakeClock();
  const purge = new Purger(clock, new Rounds(clock));
  const called: number[] = [];
  for (const index of [1, 2]) purge.add({ what: 'things', purge: async () => called.push(index) });
  purge.onApplicationBootstrap();
  clock.advance(EVERY_MS);
  await settled();
  expect(called).toEqual([2]);
});

test.each([
  { perRowMs: 0.01, sizes: [128, 256, 512, 512, 512, 512] },
  { perRowMs: 0.06, sizes: [128, 128, 128, 128, 128, 128] },
  { perRowMs: 0.1, sizes: [128, 64, 64, 64, 64, 64] },
  { perRowMs: 1, sizes: [128, 64, 32, 32, 32, 32] },
  { perRowMs: 100, sizes: [128, 64, 32, 32, 32, 32] },
])(
  'batches grow and shrink with their duration, $perRowMs ms a row, and the purge rests as long as each batch took',
  async ({ perRowMs, sizes }) => {
    const clock = new FakeClock();
    const purge = new Purger(clock, new Rounds(clock));
    const limits: number[] = [];
    const ended: number[] = [];
    const rests: number[] = [];
    purge.add({
      what: 'rows',
      firstSize: 128,
      batchSize: 512,
      purge: async (_before, limit) => {
        // After the clock's own call, during which it cannot be advanced.
        await settled();
        const last = ended.at(-1);
        const took = limit * perRowMs;
        if (last !== undefined) rests.push(clock.elapsed() - last - (limits.at(-1) ?? 0) * perRowMs);
        limits.push(limit);
        clock.advance(took);
        ended.push(clock.elapsed());
        return limits.length < sizes.length ? limit : 0;
      },
    });
    purge.onApplicationBootstrap();
    clock.advance(EVERY_MS);
    for (let turn = 0; turn < 200 && limits.length < sizes.length; turn++) {
      await settled(30);
      clock.advance(1000);
    }
    expect(limits).toEqual(sizes);
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(0);
    purge.onApplicationShutdown();
  },
);

test('a stop while a purge rests ends the purge', async () => {
  const clock = new FakeClock();
  const purge = new Purger(clock, new Rounds(clock));
  let calls = 0;
  purge.add({
    what: 'rows',
    purge: async (_before, limit) => {
      calls++;
      await settled();
      clock.advance(50);
      return limit;
    },
  });
  purge.onApplicationBootstrap();
  clock.advance(EVERY_MS);
  await settled(20);
  purge.onApplicationShutdown();
  clock.advance(EVERY_MS);
  await settled(20);
  expect(calls).toBe(1);
});
