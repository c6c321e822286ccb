import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type RouteSchedule, reserve } from '../../../../src/transports/routed/route-queue.js';

const NOW = 1_000_000;
const EMPTY: RouteSchedule = { free: 0, postponedUntil: 0 };

describe('the time of a route', () => {
  test('lets a free route take the first SMS at once, then one after the other', () => {
    const { reservations, schedule } = reserve(EMPTY, [100, 300, 100], NOW);
    expect(reservations).toEqual([
      { at: NOW, reserved: true },
      { at: NOW + 100, reserved: true },
      { at: NOW + 400, reserved: true },
    ]);
    expect(schedule).toEqual({ free: NOW + 500, postponedUntil: NOW });
  });

  test('gives SMS that would wait for more than a second consecutive later times, and reserves nothing for them', () => {
    const { reservations, schedule } = reserve({ free: NOW + 950, postponedUntil: 0 }, [100, 100, 100], NOW);
    expect(reservations).toEqual([
      { at: NOW + 950, reserved: true },
      { at: NOW + 1050, reserved: false },
      { at: NOW + 1150, reserved: false },
    ]);
    expect(schedule).toEqual({ free: NOW + 1050, postponedUntil: NOW + 1250 });
    expect(reserve(schedule, [100], NOW).reservations).toEqual([{ at: NOW + 1250, reserved: false }]);
  });

  test('postpones no SMS for more than ten minutes', () => {
    const { reservations } = reserve({ free: NOW + 5000, postponedUntil: NOW + 10 ** 9 }, [100], NOW);
    expect(reservations).toEqual([{ at: NOW + 600_000, reserved: false }]);
  });

  test('accepts an SMS that takes longer than the longest wait when the route is free', () => {
    expect(reserve(EMPTY, [30_000, 100], NOW).reservations).toEqual([
      { at: NOW, reserved: true },
      { at: NOW + 30_000, reserved: false },
    ]);
  });

  test('never has more reservations in a period than fit into it, whoever reserves and when (property)', () => {
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
        let schedule = EMPTY;
        let end = 0;
        for (const { pause, costs } of all) {
          now += pause;
          const given = reserve(schedule, costs, now);
          schedule = given.schedule;
          for (const [index, { at, reserved }] of given.reservations.entries()) {
            expect(at).toBeGreaterThanOrEqual(now);
            expect(Number.isInteger(at)).toBe(true);
            if (!reserved) {
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
