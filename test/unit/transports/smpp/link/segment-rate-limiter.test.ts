import { describe, expect, test } from '@jest/globals';
import { patientDelay, reconnectDelay } from '../../../../../src/transports/smpp/link/link-keeper.js';
import { SegmentRateLimiter } from '../../../../../src/transports/smpp/link/segment-rate-limiter.js';

const SETTINGS = { window: 8, partsPerSecond: undefined, throttlePauseMs: 100 };

describe('the rate in parts a second', () => {
  /** The number of parts that leave in each second if there are always more, and if timers run on time. */
  function perSecond(partsPerSecond: number, seconds: number): number[] {
    const limiter = new SegmentRateLimiter({ ...SETTINGS, partsPerSecond }, 0, () => 0);
    const counts = Array.from({ length: seconds }, () => 0);
    for (let now = 0; now < seconds * 1000; ) {
      const wait = limiter.waitMs(now);
      if (wait === 0) {
        limiter.sent();
        counts[Math.floor(now / 1000)] = (counts[Math.floor(now / 1000)] ?? 0) + 1;
      }
      now += wait;
    }
    return counts;
  }

  test.each([1, 7, 30, 333])(
    'of %i is not exceeded, except for a tenth of a second at the start, and is reached',
    (rate) => {
      const [first = 0, ...others] = perSecond(rate, 10);
      expect(first).toBeGreaterThanOrEqual(rate);
      expect(first).toBeLessThanOrEqual(rate + Math.max(1, rate / 10));
      for (const count of others) expect(Math.abs(count - rate)).toBeLessThanOrEqual(1);
    },
  );

  test('that is slow leaves its full interval between two parts', () => {
    const limiter = new SegmentRateLimiter({ ...SETTINGS, partsPerSecond: 0.1 }, 0, () => 0);
    expect(limiter.waitMs(0)).toBe(0);
    limiter.sent();
    expect(limiter.waitMs(0)).toBe(10_000);
    expect(limiter.waitMs(4000)).toBe(6000);
  });

  test('does not save up idle time', () => {
    const limiter = new SegmentRateLimiter({ ...SETTINGS, partsPerSecond: 20 }, 0, () => 0);
    let sent = 0;
    for (; limiter.waitMs(3_600_000) === 0; sent++) limiter.sent();
    expect(sent).toBe(2);
  });
});

describe('a carrier that throttles', () => {
  const limiterOf = (random = 0) => new SegmentRateLimiter(SETTINGS, 0, () => random);

  test('gets a rest, longer each time if nothing was taken in between, up to 64 times', () => {
    const limiter = limiterOf();
    const rests: number[] = [];
    for (let now = 0, round = 0; round < 9; round++) {
      limiter.slowDown(now, now);
      rests.push(limiter.waitMs(now));
      now += limiter.waitMs(now);
    }
    expect(rests).toEqual([50, 100, 200, 400, 800, 1600, 3200, 3200, 3200]);
  });

  test('gets a rest with jitter over its upper half', () => {
    const limiter = limiterOf(0.999_99);
    limiter.slowDown(0, 0);
    expect(limiter.waitMs(0)).toBe(100);
  });

  test('gets no other rest for parts that were on the wire when the rest began', () => {
    const limiter = limiterOf();
    for (let answer = 0; answer < 8; answer++) limiter.slowDown(0, 10);
    expect([limiter.waitMs(10), limiter.window]).toEqual([50, 4]);
  });

  test('gets the shortest rest again if something was taken in between', () => {
    const limiter = limiterOf();
    limiter.slowDown(0, 0);
    limiter.slowDown(50, 50);
    limiter.taken();
    limiter.slowDown(150, 150);
    expect(limiter.waitMs(150)).toBe(50);
  });

  test('halves the window, which grows back by one for each window that is taken', () => {
    const limiter = limiterOf();
    for (let now = 0; now <= 10_000; now += 5000) limiter.slowDown(now, now);
    expect(limiter.window).toBe(1);
    const widths = Array.from({ length: 30 }, () => {
      limiter.taken();
      return limiter.window;
    });
    expect(widths.slice(0, 6)).toEqual([2, 2, 3, 3, 3, 4]);
    expect(widths.at(-1)).toBe(8);
    limiter.slowDown(20_000, 20_000);
    limiter.slowDown(30_000, 30_000);
    expect(limiter.window).toBe(2);
  });
});

describe('connecting again', () => {
  const settings = { firstMs: 1000, maxMs: 60_000 };

  test('has full jitter below a limit that doubles up to the longest wait', () => {
    const ceilings = Array.from({ length: 8 }, (_, failures) => reconnectDelay(settings, failures, 1));
    expect(ceilings).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    expect(reconnectDelay(settings, 5, 0)).toBe(0);
    expect(reconnectDelay(settings, 5, 0.5)).toBe(16_000);
    expect(reconnectDelay(settings, 100_000, 1)).toBe(60_000);
  });

  test('is never soon after a refusal that is caused by the configuration', () => {
    expect([patientDelay(settings, 0), patientDelay(settings, 1)]).toEqual([30_000, 60_000]);
  });
});
