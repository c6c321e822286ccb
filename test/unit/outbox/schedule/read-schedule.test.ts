import { describe, expect, test } from '@jest/globals';
import { MessagingError } from '../../../../src/common/errors.js';
import { DAY_MS, SECOND_MS } from '../../../../src/common/time.js';
import { momentOf, readSchedule } from '../../../../src/outbox/schedule/read-schedule.js';

const NOW = Date.UTC(2026, 10, 27, 10);
const offset = (ms: number) => new Date(NOW + ms).toISOString();
const codeOf = (input: object) => {
  try {
    readSchedule(input, NOW);
  } catch (error) {
    return error instanceof MessagingError ? error.code : error;
  }
  return undefined;
};

describe('momentOf', () => {
  test.each([
    ['2026-11-28T08:00:00Z', '2026-11-28T08:00:00.000Z'],
    ['2026-11-28t08:00:00z', '2026-11-28T08:00:00.000Z'],
    ['2026-11-28T08:00:00+05:30', '2026-11-28T02:30:00.000Z'],
    ['2026-11-28T23:30:00-01:00', '2026-11-29T00:30:00.000Z'],
    ['2026-11-28T08:00:00-00:00', '2026-11-28T08:00:00.000Z'],
    ['2026-11-28T08:00:00.5Z', '2026-11-28T08:00:00.500Z'],
    ['2026-11-28T08:00:00.123999999Z', '2026-11-28T08:00:00.123Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    // In the hour that daylight saving skips or repeats, the offset says which moment it is.
    ['2026-03-29T02:30:00+01:00', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25T02:30:00+02:00', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T02:30:00+01:00', '2026-10-25T01:30:00.000Z'],
    ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
    ['2027-01-01T00:59:60+01:00', '2027-01-01T00:00:00.000Z'],
    ['2026-12-31T23:59:60.9Z', '2027-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, moment) => {
    expect(new Date(momentOf(text) ?? Number.NaN).toISOString()).toBe(moment);
  });

  test.each([
    '2026-11-28T08:00:00',
    '2026-11-28',
    '2026-11-28 08:00:00Z',
    '2026-11-28T08:00Z',
    '2026-11-28T08:00:00+0100',
    '2026-11-28T08:00:00+1:00',
    '2026-11-28T08:00:00+24:00',
    '2026-11-28T08:00:00+01:60',
    '2026-11-28T24:00:00Z',
    '2026-11-28T08:60:00Z',
    '2026-11-28T08:00:61Z',
    '2026-11-28T08:00:60Z',
    '2026-11-28T23:59:60Z',
    '2026-02-30T08:00:00Z',
    '2026-02-29T08:00:00Z',
    '2026-13-01T08:00:00Z',
    '2026-00-10T08:00:00Z',
    '2026-11-00T08:00:00Z',
    '26-11-28T08:00:00Z',
    '+002026-11-28T08:00:00Z',
    '2026-11-28T08:00:00.Z',
    '2026-11-28T08:00:00,5Z',
    '2026-11-28T08:00:00Z ',
    '２０２６-11-28T08:00:00Z',
    'tomorrow',
    '',
    `2026-11-28T08:00:00.${'1'.repeat(100)}Z`,
  ])('%s is not a moment', (text) => {
    expect(momentOf(text)).toBeUndefined();
  });
});

describe('readSchedule', () => {
  test('a send without the fields has no schedule', () => {
    expect(readSchedule({}, NOW)).toBeUndefined();
    expect(codeOf({ send_at: null, valid_for: null })).toBeUndefined();
  });

  test('up to 60 seconds in the past counts as now, and 180 days ahead are allowed', () => {
    expect(readSchedule({ send_at: offset(-60 * SECOND_MS) }, NOW)?.sendAt).toBe(NOW);
    expect(codeOf({ send_at: offset(-60 * SECOND_MS - 1) })).toBe('error.send_at_invalid');
    expect(codeOf({ send_at: offset(-61 * SECOND_MS) })).toBe('error.send_at_invalid');
    expect(readSchedule({ send_at: offset(180 * DAY_MS) }, NOW)?.sendAt).toBe(NOW + 180 * DAY_MS);
    expect(codeOf({ send_at: offset(180 * DAY_MS + 1) })).toBe('error.send_at_invalid');
    expect(codeOf({ send_at: offset(181 * DAY_MS) })).toBe('error.send_at_invalid');
  });

  test.each([1, true, [], {}, '2026-11-28T08:00:00', '2026-02-30T08:00:00Z'])('send_at %j is refused', (send_at) => {
    expect(codeOf({ send_at })).toBe('error.send_at_invalid');
  });

  test('the validity counts from send_at, or else from the acceptance', () => {
    expect(readSchedule({ valid_for: 5 }, NOW)).toEqual({ sendAt: undefined, validUntil: NOW + 5 * SECOND_MS });
    const send_at = offset(DAY_MS);
    expect(readSchedule({ send_at, valid_for: 2_592_000 }, NOW)?.validUntil).toBe(NOW + 31 * DAY_MS);
  });

  test.each([0, 4, -5, 1.5, '60', 2_592_001, Number.NaN, Number.POSITIVE_INFINITY, [], {}, true])(
    'valid_for %j is refused',
    (valid_for) => {
      expect(codeOf({ valid_for })).toBe('error.valid_for_invalid');
    },
  );
});
