import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LinkEnd } from '../../../src/msgapp/msgapp-transport.js';
import { ReconnectPolicy } from '../../../src/msgapp/sessions/reconnect-policy.js';

const STEADY = 300_000;
const retry: LinkEnd = { next: 'retry', reason: 'cut' };
const few: LinkEnd = { next: 'retry-few', reason: 'bad_session' };
const restart: LinkEnd = { next: 'restart', reason: '515' };

const policy = (random = 0) => new ReconnectPolicy(STEADY, () => random);

function waits(of: ReconnectPolicy, end: LinkEnd, times: number, openFor?: number): (number | string)[] {
  let at = 0;
  return Array.from({ length: times }, () => {
    if (openFor !== undefined) of.opened(at);
    at += openFor ?? 0;
    const next = of.ended(end, at);
    return next.again ? next.waitMs : `${next.status}: ${next.reason}`;
  });
}

describe('after a connection', () => {
  test.each([
    [0, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
    [0.999_999_9, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]],
  ])('the wait grows from a second to a minute (jitter %d)', (random, expected) => {
    expect(waits(policy(random), retry, 7)).toEqual(expected);
  });

  test('that is accepted and ended at once, the wait grows too', () => {
    expect(waits(policy(), retry, 7, 2000).at(-1)).toBe(30_000);
    expect(waits(policy(), retry, 7, STEADY - 1).at(-1)).toBe(30_000);
  });

  test('that was steady, earlier failures are forgotten', () => {
    expect(waits(policy(), retry, 7, STEADY)).toEqual(Array(7).fill(1000));
    expect(waits(policy(), few, 30, STEADY)).toEqual(Array(30).fill(1000));
  });

  test('that asks for a restart, there is no wait, except for restarts in a row', () => {
    expect(waits(policy(), restart, 6)).toEqual([0, 0, 0, 1000, 2000, 4000]);
    expect(waits(policy(), restart, 20, STEADY)).toEqual(Array(20).fill(0));
  });

  test('whose end may be permanent, there are a few attempts; other failures in between do not reset the count', () => {
    const one = policy();
    const tries: string[] = [];
    for (let time = 0; time < 8; time++) {
      one.ended(retry, 0);
      const next = one.ended(few, 0);
      tries.push(next.again ? 'again' : `${next.status}: ${next.reason}`);
    }
    expect(tries).toEqual([...Array(7).fill('again'), 'failed: bad_session']);
  });

  test.each(['expired', 'logged_out', 'replaced', 'banned', 'failed'] as const)(
    'that ends with %s, there is no further attempt',
    (status) => {
      const end: LinkEnd = { next: 'give-up', status, reason: 'why' };
      expect(policy().ended(end, 0)).toEqual({ again: false, status, reason: 'why' });
    },
  );

  test('of any kind, at any time, there is never a hot loop', () => {
    const anyEnd = fc.constantFrom(retry, few, restart);
    const anyStep = fc.record({ end: anyEnd, openFor: fc.option(fc.integer({ min: 0, max: 2 * STEADY })) });
    fc.assert(
      fc.property(
        fc.array(anyStep, { minLength: 1, maxLength: 200 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (steps, r) => {
          const one = policy(r);
          let at = 0;
          let inTenMinutes: number[] = [];
          for (const { end, openFor } of steps) {
            if (openFor !== null) one.opened(at);
            at += openFor ?? 0;
            const next = one.ended(end, at);
            if (!next.again) return;
            expect(next.waitMs).toBeLessThanOrEqual(60_000);
            at += next.waitMs;
            inTenMinutes = [...inTenMinutes.filter((time) => time > at - 600_000), at];
            // At most two steady connections, each with its free restarts and a whole climb of waits.
            expect(inTenMinutes.length).toBeLessThan(60);
          }
        },
      ),
    );
  });
});
