import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { zonesOf } from '../../../../src/outbox/windows/country-zones.js';
import { firstOpenings } from '../../../../src/outbox/windows/first-openings.js';
import { nextSpan, spanIn } from '../../../../src/outbox/windows/opening.js';
import { readWindow } from '../../../../src/outbox/windows/read-window.js';
import type { WindowInput } from '../../../../src/outbox/windows/window.api.js';
import { momentOf, offsetAt } from '../../../../src/outbox/windows/zone-offsets.js';
import { clocksAt, firstMinuteOf, isInside } from '../../../support/outbox/zone-oracle.js';

const BF = '22670000001';
const FR = '33612345678';
const US = '12125550123';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function openingOf(window: WindowInput, number: string, at: string): string | undefined {
  const span = nextSpan(readWindow(window), number, Date.parse(at));
  return span === undefined ? undefined : new Date(span.opens).toISOString();
}

function openingIn(...given: Parameters<typeof spanIn>): number | undefined {
  return spanIn(...given)?.opens;
}

describe('the next opening of a window', () => {
  const day = { from: '08:00', to: '20:00' };

  test('is the moment itself while the window is open', () => {
    expect(openingOf(day, BF, '2026-11-27T08:00:00Z')).toBe('2026-11-27T08:00:00.000Z');
    expect(openingOf(day, BF, '2026-11-27T19:59:59.999Z')).toBe('2026-11-27T19:59:59.999Z');
  });

  test('is later today before it opens, and tomorrow once it has closed', () => {
    expect(openingOf(day, BF, '2026-11-27T07:59:59.999Z')).toBe('2026-11-27T08:00:00.000Z');
    expect(openingOf(day, BF, '2026-11-27T20:00:00Z')).toBe('2026-11-28T08:00:00.000Z');
  });

  test('follows the zone of the number’s country', () => {
    expect(openingOf(day, FR, '2026-11-27T02:00:00Z')).toBe('2026-11-27T07:00:00.000Z');
    expect(openingOf(day, FR, '2026-07-27T02:00:00Z')).toBe('2026-07-27T06:00:00.000Z');
  });

  test('follows a named zone, whatever the number', () => {
    expect(openingOf({ ...day, zone: 'Asia/Kolkata' }, BF, '2026-11-27T00:00:00Z')).toBe('2026-11-27T02:30:00.000Z');
  });

  test('closes with the first zone of the country that closes', () => {
    expect(nextSpan(readWindow(day), US, Date.parse('2026-11-27T13:00:00Z'))?.closes).toBe(
      Date.parse('2026-11-28T01:00:00Z'),
    );
    expect(nextSpan(readWindow(day), BF, Date.parse('2026-11-27T13:00:00Z'))?.closes).toBe(
      Date.parse('2026-11-27T20:00:00Z'),
    );
  });

  test('skips days that are not the window’s', () => {
    // 27 November 2026 is a Friday.
    const workdays = { ...day, days: [1, 2, 3, 4, 5] };
    expect(openingOf(workdays, BF, '2026-11-27T20:30:00Z')).toBe('2026-11-30T08:00:00.000Z');
    expect(openingOf({ ...day, days: [5] }, BF, '2026-11-27T20:30:00Z')).toBe('2026-12-04T08:00:00.000Z');
  });

  test('lets a window over midnight belong to the day on which it opens', () => {
    const fridayNight = { from: '22:00', to: '02:00', days: [5] };
    expect(openingOf(fridayNight, BF, '2026-11-28T01:59:00Z')).toBe('2026-11-28T01:59:00.000Z');
    expect(openingOf(fridayNight, BF, '2026-11-28T02:00:00Z')).toBe('2026-12-04T22:00:00.000Z');
    expect(openingOf(fridayNight, BF, '2026-11-27T01:00:00Z')).toBe('2026-11-27T22:00:00.000Z');
  });

  test('closes a window that ends at 00:00 at midnight', () => {
    const evening = { from: '18:00', to: '00:00', days: [5] };
    expect(openingOf(evening, BF, '2026-11-27T23:59:00Z')).toBe('2026-11-27T23:59:00.000Z');
    expect(openingOf(evening, BF, '2026-11-28T00:00:00Z')).toBe('2026-12-04T18:00:00.000Z');
  });

  test('is inside the window in every zone of the country', () => {
    // 08:00 in Honolulu is 18:00 UTC, and 20:00 in New York is 01:00 UTC.
    expect(openingOf(day, US, '2026-11-27T13:00:00Z')).toBe('2026-11-27T18:00:00.000Z');
    expect(openingOf(day, US, '2026-11-28T01:00:00Z')).toBe('2026-11-28T18:00:00.000Z');
  });

  test('does not exist if the zones of the country leave no moment', () => {
    expect(openingOf({ from: '08:00', to: '09:00' }, US, '2026-11-27T13:00:00Z')).toBeUndefined();
    // Asked again, for a later moment of the same hour and for one of the next day.
    expect(openingOf({ from: '08:00', to: '09:00' }, US, '2026-11-27T13:30:00Z')).toBeUndefined();
    expect(openingOf({ from: '08:00', to: '09:00' }, US, '2026-11-28T13:30:00Z')).toBeUndefined();
  });

  test('does not exist for numbers whose zones are not known', () => {
    // Kosovo has no zone of its own in IANA's list, and +883 is the code of no country.
    expect(openingOf(day, '38344123456', '2026-11-27T13:00:00Z')).toBeUndefined();
    expect(openingOf(day, '883510001234567', '2026-11-27T13:00:00Z')).toBeUndefined();
    expect(openingOf({ ...day, zone: 'Europe/Belgrade' }, '38344123456', '2026-11-27T13:00:00Z')).toBeDefined();
  });

  test('is the change of the clocks if it skips the time', () => {
    // On 29 March 2026 at 02:00 the clocks of Paris go to 03:00, which is 01:00 UTC.
    expect(openingOf({ from: '02:30', to: '06:00' }, FR, '2026-03-29T00:00:00Z')).toBe('2026-03-29T01:00:00.000Z');
    // Both ends are skipped, so the window does not open on that day.
    expect(openingOf({ from: '02:15', to: '02:45' }, FR, '2026-03-29T00:00:00Z')).toBe('2026-03-30T00:15:00.000Z');
  });

  test('is the first of two occurrences of the time', () => {
    // On 25 October 2026 at 03:00 the clocks of Paris go back to 02:00, so 02:30 is 00:30 and 01:30 UTC.
    expect(openingOf({ from: '02:30', to: '06:00' }, FR, '2026-10-25T00:00:00Z')).toBe('2026-10-25T00:30:00.000Z');
    expect(openingOf({ from: '01:00', to: '02:30' }, FR, '2026-10-25T00:30:00Z')).toBe('2026-10-26T00:00:00.000Z');
  });

  test('skips a day that a zone leaves out when it moves across the date line', () => {
    // Samoa had no 30 December 2011, a Friday.
    const friday = { ...day, days: [5], zone: 'Pacific/Apia' };
    expect(openingOf(friday, BF, '2011-12-29T12:00:00Z')).toBe('2012-01-05T18:00:00.000Z');
  });

  test('is the same whatever was asked before', () => {
    const window = readWindow({ from: '08:00', to: '20:00', days: [1, 3] });
    const ask = (at: number) => openingIn(window, 'FR', at);
    const moments = Array.from({ length: 400 }, (_, index) => Date.UTC(2026, 2, 25) + index * 1_234_567);
    const forwards = moments.map(ask);
    const backwards = moments.toReversed().map(ask).toReversed();
    expect(backwards).toEqual(forwards);
  });
});

const ZONES = ['Europe/Paris', 'America/St_Johns', 'Africa/Casablanca', 'Pacific/Kiritimati', 'Asia/Kathmandu'];
// 2025 to 2027.
const moment = fc.integer({ min: 29_000_000, max: 30_500_000 }).map((minute) => minute * 60_000);
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'));
const window = fc
  .record({
    from: time,
    to: time,
    days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
  })
  .filter(({ from, to }) => from !== to);

/** Zones with a change of their clocks in 2026, forwards and back. */
const CHANGES: readonly (readonly [string, string])[] = [
  ['Europe/Paris', '2026-03-29T01:00Z'],
  ['Europe/Paris', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
];

/** A zone and a moment: in half of the cases within five hours of a change in local time. */
const place = fc.oneof(
  fc.tuple(fc.constantFrom(...ZONES), moment),
  fc.tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -300, max: 300 })).map(([[zone, change], minutes]) => {
    const at = Date.parse(change);
    return [zone, clocksAt(zone, at - 1) + 1 + minutes * 60_000] as const;
  }),
);

describe('compared with a search that tries every minute', () => {
  test('offsets are those that the clocks show', () => {
    fc.assert(fc.property(place, ([zone, at]) => offsetAt(zone, at) === clocksAt(zone, at) - at));
  });

  test('a local time is its first moment, or that of the change that skips it', () => {
    fc.assert(fc.property(place, ([zone, local]) => momentOf(zone, local) === firstMinuteOf(zone, local)));
  });

  test('the opening is inside the window, and nothing before it is', () => {
    fc.assert(
      fc.property(window, place, fc.double({ min: 0, max: 1, noNaN: true }), (given, [zone, at], share) => {
        const opening = openingIn(readWindow({ ...given, zone }), undefined, at);
        if (opening === undefined) return false;
        const between = at + Math.floor(((opening - at) * share) / 60_000) * 60_000;
        const read = readWindow(given);
        return isInside(read, zone, opening) && (between === opening || !isInside(read, zone, between));
      }),
    );
  });

  test('in a country, the opening is inside the window in every zone', () => {
    const country = fc.constantFrom('US', 'BR', 'AU', 'KI', 'MX', 'RU');
    fc.assert(
      fc.property(window, country, moment, (given, code, at) => {
        const read = readWindow(given);
        const opening = openingIn(read, code, at);
        return opening === undefined || zonesOf(code).every((name) => isInside(read, name, opening));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the due times of a send', () => {
  const at = Date.parse('2026-11-27T02:00:00Z');
  const window = readWindow({ from: '08:00', to: '20:00' });

  test('are one time if all countries open together', async () => {
    expect(await firstOpenings(window, [BF, '22670000002'], at)).toBe(at + 6 * HOUR);
    // Ghana and Burkina Faso both have UTC.
    expect(await firstOpenings(window, [BF, '233241234567'], at)).toBe(at + 6 * HOUR);
    expect(await firstOpenings(readWindow({ from: '08:00', to: '20:00', zone: 'UTC' }), [BF, FR], at)).toBe(
      at + 6 * HOUR,
    );
  });

  test('are one for each recipient otherwise, in their order', async () => {
    expect(await firstOpenings(window, [BF, FR, BF], at)).toEqual([at + 6 * HOUR, at + 5 * HOUR, at + 6 * HOUR]);
  });

  test('are refused with the country whose zones leave no moment', async () => {
    const short = readWindow({ from: '08:00', to: '09:00' });
    const refused = (country: string) => ({ code: 'error.window_empty', values: { country } });
    await expect(firstOpenings(short, [BF, US], at)).rejects.toMatchObject(refused('US'));
    await expect(firstOpenings(short, ['883510001234567'], at)).rejects.toMatchObject(refused('+883'));
    await expect(firstOpenings(short, ['38344123456'], at)).rejects.toMatchObject(refused('XK'));
  });

  test('are within fifteen days', async () => {
    const monday = readWindow({ from: '08:00', to: '08:01', days: [1] });
    expect(await firstOpenings(monday, [BF], Date.parse('2026-11-30T08:01:00Z'))).toBe(
      Date.parse('2026-12-07T08:00:00Z'),
    );
    expect(Number(await firstOpenings(monday, [BF], at)) - at).toBeLessThan(15 * DAY);
  });
});
