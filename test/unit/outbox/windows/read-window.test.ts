import { describe, expect, test } from '@jest/globals';
import { knowsZones, zonesOf } from '../../../../src/outbox/windows/country-zones.js';
import { readWindow } from '../../../../src/outbox/windows/read-window.js';

const WINDOW = { from: '08:00', to: '20:00' };

describe('a window of a caller', () => {
  test('has all days and the recipient’s zone by default', () => {
    const complete = { ...WINDOW, days: [1, 2, 3, 4, 5, 6, 7], zone: 'recipient' };
    expect(readWindow(WINDOW)).toEqual(complete);
    expect(readWindow({ ...WINDOW, days: null, zone: undefined })).toEqual(complete);
  });

  test('has its days in order', () => {
    expect(readWindow({ ...WINDOW, days: [7, 1, 3] }).days).toEqual([1, 3, 7]);
  });

  test.each([
    ['over midnight', { from: '22:00', to: '06:00' }],
    ['until midnight', { from: '22:00', to: '00:00' }],
    ['in a named zone', { ...WINDOW, zone: 'Africa/Ouagadougou' }],
    ['in a zone with an older name', { ...WINDOW, zone: 'Asia/Calcutta' }],
    ['in a zone with a newer name', { ...WINDOW, zone: 'Asia/Kolkata' }],
    ['in UTC', { ...WINDOW, zone: 'UTC' }],
  ])('%s is read', (_, given) => {
    expect(readWindow(given)).toMatchObject(given);
  });

  test.each<[string, unknown]>([
    ['of length 0', { from: '08:00', to: '08:00' }],
    ['with 24:00', { from: '08:00', to: '24:00' }],
    ['with 8:00', { from: '8:00', to: '20:00' }],
    ['with 08:60', { from: '08:60', to: '20:00' }],
    ['with seconds', { from: '08:00:00', to: '20:00' }],
    ['with numbers', { from: 8, to: 20 }],
    ['without an end', { from: '08:00' }],
    ['without days', { ...WINDOW, days: [] }],
    ['with day 0', { ...WINDOW, days: [0] }],
    ['with day 8', { ...WINDOW, days: [8] }],
    ['with a text as day', { ...WINDOW, days: ['1'] }],
    ['with half a day', { ...WINDOW, days: [1.5] }],
    ['with a day twice', { ...WINDOW, days: [1, 1] }],
    ['with a day that is no list', { ...WINDOW, days: 1 }],
    ['with eight days', { ...WINDOW, days: [1, 2, 3, 4, 5, 6, 7, 7] }],
    ['on Mars', { ...WINDOW, zone: 'Mars' }],
    ['in an offset', { ...WINDOW, zone: '+05:30' }],
    ['without a name of the zone', { ...WINDOW, zone: '' }],
    ['with a number as zone', { ...WINDOW, zone: 1 }],
    ['with an unknown field', { ...WINDOW, timezone: 'Europe/Paris' }],
    ['that is a list', [WINDOW]],
    ['that is a text', '08:00-20:00'],
    ['that is null', null],
  ])('%s is refused', (_, given) => {
    expect(() => readWindow(given, 'sms.window')).toThrow(
      expect.objectContaining({ code: 'error.window_invalid', values: { field: 'sms.window' } }),
    );
  });
});

describe('the zones of countries', () => {
  test('come from the runtime', () => {
    expect(knowsZones()).toBe(true);
    expect(zonesOf('BF')).toEqual(['Africa/Ouagadougou']);
    expect(zonesOf('US')).toContain('Pacific/Honolulu');
    expect(zonesOf('XK')).toEqual([]);
  });
});
