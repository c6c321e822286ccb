import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type RouteSchedule, reserve } from '../../../src/transports/routed/route-queue.js';

const NOW = 1_000_000;
const EMPTY: RouteSchedule = { free: 0, told: 0 };

describe('the time of a route', () => {
  test('a free route gives its time at once, then one SMS after the other', () => {
    const { bookings, line } = reserve(EMPTY, [100, 300, 100], NOW);
    expect(bookings).toEqual([
      { at: NOW, booked: true },
      { at: NOW + 100, booked: true },
      { at: NOW + 400, booked: true },
    ]);
    expect(line).toEqual({ free: NOW + 500, told: NOW });
  });

  test('what would wait for more than a second is told when to come, one after the other, and takes nothing', () => {
    const { bookings, line } = reserve({ free: NOW + 950, told: 0 }, [100, 100, 100], NOW);
    expect(bookings).toEqual([
      { at: NOW + 950, booked: true },
      { at: NOW + 1050, booked: false },
      { at: NOW + 1150, booked: false },
    ]);
    expect(line).toEqual({ free: NOW + 1050, told: NOW + 1250 });
    expect(reserve(line, [100], NOW).bookings).toEqual([{ at: NOW + 1250, booked: false }]);
  });

  test('nobody is told to come later than in ten minutes', () => {
    const { bookings } = reserve({ free: NOW + 5000, told: NOW + 10 ** 9 }, [100], NOW);
    expect(bookings).toEqual([{ at: NOW + 600_000, booked: false }]);
  });

  test('an SMS that takes longer than anybody waits is taken when the route is free', () => {
    expect(reserve(EMPTY, [30_000, 100], NOW).bookings).toEqual([
      { at: NOW, booked: true },
      { at: NOW + 30_000, booked: false },
    ]);
  });

  test('whoever books, whenever: in no stretch of time more is given away than fits into it (property)', () => {
    const steps = fc.array(
      fc.record({
        pause: fc.integer({ min: 0, max: 3000 }),
        costs: fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        let now = NOW;
        let line = EMPTY;
        let end = 0;
        for (const { pause, costs } of all) {
          now += pause;
          const given = reserve(line, costs, now);
          line = given.line;
          for (const [index, { at, booked }] of given.bookings.entries()) {
            expect(at).toBeGreaterThanOrEqual(now);
            expect(Number.isInteger(at)).toBe(true);
            if (!booked) {
              expect(at).toBeGreaterThan(now + 1000);
              continue;
            }
            expect(at).toBeLessThanOrEqual(now + 1000);
            expect(at).toBeGreaterThanOrEqual(end);
            end = at + (costs[index] ?? 0);
          }
        }
      }),
    );
  });
});
