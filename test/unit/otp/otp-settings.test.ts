import { describe, expect, test } from '@jest/globals';
import { describeChance, guessChance, guessesIn } from '../../../src/otp/guess-chance.js';
import { resolveLimits } from '../../../src/otp/otp-limits.js';
import type { OtpOptions } from '../../../src/otp/otp-options.js';
import { resolveOtpSettings } from '../../../src/otp/otp-settings.js';

const PEPPER = 'a pepper for tests, 0123456789 abcdef';
const resolve = (options: Partial<OtpOptions>, home?: string) =>
  resolveOtpSettings({ pepper: PEPPER, ...options }, { home });

describe('the chance of guessing a code', () => {
  const standard = resolveLimits('standard');

  test('is 0.03 % a code, 0.1 % a day and 0.3 % a month with "standard" and four digits', () => {
    const chance = guessChance({ digits: 4, triesPerCode: 3, wrongTries: standard.wrongTries });
    expect(chance.perCode).toBeCloseTo(0.0003, 8);
    expect(chance.perDay).toBeCloseTo(0.001, 5);
    expect(chance.perMonth).toBeCloseTo(0.003, 5);
    expect(describeChance(chance)).toContain('0.03 % per code, 0.1 % a day, 0.3 % in 30 days');
  });

  test('is a hundred times lower for every two further digits', () => {
    const of = (digits: number) => guessChance({ digits, triesPerCode: 3, wrongTries: standard.wrongTries }).perMonth;
    expect(of(4) / of(6)).toBeCloseTo(100, 0);
  });

  test('is certain without a lock', () => {
    expect(guessChance({ digits: 8, triesPerCode: 3, wrongTries: [] }).perMonth).toBe(1);
  });

  test('depends on the narrowest window', () => {
    const windows = [
      { count: 10, seconds: 86_400 },
      { count: 30, seconds: 30 * 86_400 },
    ];
    expect(guessesIn(86_400, windows)).toBe(10);
    expect(guessesIn(30 * 86_400, windows)).toBe(30);
    expect(guessesIn(30 * 86_400, [{ count: 10, seconds: 86_400 }])).toBe(300);
  });

  test('stops the start above 1 % a month, unless the host allows it', () => {
    const wrongTries = [{ count: 10, seconds: 86_400 }];
    expect(() => resolve({ limits: { wrongTries } })).toThrow('too easy to guess');
    expect(() => resolve({ limits: { wrongTries: [] } })).toThrow('100 % in 30 days');
    expect(resolve({ limits: { wrongTries }, maxGuessChance: 0.05 }).chance.perMonth).toBeCloseTo(0.0296, 3);
    expect(resolve({ limits: { wrongTries }, length: 6 }).chance.perMonth).toBeLessThan(0.001);
  });

  test('starts with "none", and logs a warning', () => {
    const { limitWarnings, chance } = resolve({ limits: 'none' });
    expect(chance.perMonth).toBe(1);
    expect(limitWarnings.join()).toContain('WITHOUT LIMIT');
    expect(resolve({})).toMatchObject({ warnings: [], limitWarnings: [] });
  });
});

describe('presets', () => {
  test('standard', () => {
    expect(resolveLimits()).toEqual({
      preset: 'standard',
      sends: [
        { count: 5, seconds: 600 },
        { count: 20, seconds: 86_400 },
      ],
      sendsPerNumber: [],
      sendsEverywhere: [],
      cooldownSeconds: 0,
      wrongTries: [
        { count: 10, seconds: 86_400 },
        { count: 30, seconds: 2_592_000 },
      ],
      countries: 'all',
      prefixBreaker: false,
      countryBreaker: false,
      spendPerDay: false,
    });
  });

  test('strict', () => {
    expect(resolveLimits('strict', 'BF')).toMatchObject({
      sends: resolveLimits().sends,
      wrongTries: resolveLimits().wrongTries,
      cooldownSeconds: 60,
      sendsPerNumber: [
        { count: 5, seconds: 3600 },
        { count: 10, seconds: 86_400 },
      ],
      sendsEverywhere: [{ count: 20, seconds: 86_400 }],
      countries: ['BF'],
      prefixBreaker: { count: 5, seconds: 3600 },
      countryBreaker: { codes: 30, verifiedPercent: 20 },
      spendPerDay: 10_000,
    });
  });

  test('allow a single value to override a preset', () => {
    expect(resolveLimits({ preset: 'strict', spendPerDay: false, countries: ['SN'] }, 'BF')).toEqual({
      ...resolveLimits('strict', 'BF'),
      spendPerDay: false,
      countries: ['SN'],
    });
    expect(resolveLimits({ cooldownSeconds: 30 })).toEqual({ ...resolveLimits(), cooldownSeconds: 30 });
  });

  test('require countries with "strict" if there is no home market', () => {
    expect(() => resolveLimits('strict')).toThrow('otp.limits.countries');
  });
});

describe('options', () => {
  test.each<[string, Partial<OtpOptions>]>([
    ['otp.length', { length: 3 }],
    ['otp.length', { length: 9 }],
    ['otp.validitySeconds', { validitySeconds: 0 }],
    ['otp.validitySeconds', { validitySeconds: 3601 }],
    ['otp.triesPerCode', { triesPerCode: 0 }],
    ['otp.maxGuessChance', { maxGuessChance: 2 }],
    ['otp.limits.sends', { limits: { sends: [{ count: 0, seconds: 1 }] } }],
    ['otp.limits.wrongTries', { limits: { wrongTries: [{ count: 1, seconds: 0.5 }] } }],
    ['otp.limits.countries', { limits: { countries: ['XX'] } }],
    ['otp.limits.countries', { limits: { countries: [] } }],
    ['otp.limits.cooldownSeconds', { limits: { cooldownSeconds: -1 } }],
    ['otp.limits.spendPerDay', { limits: { spendPerDay: 0 } }],
    ['otp.limits.countryBreaker', { limits: { countryBreaker: { codes: 1, verifiedPercent: 0 } } }],
  ])('refuse a wrong %s', (name, options) => {
    expect(() => resolve(options)).toThrow(name);
  });

  test('warn of a validity outside one to ten minutes', () => {
    expect(resolve({ validitySeconds: 59 }).warnings.join()).toContain('validitySeconds is 59');
    expect(resolve({ validitySeconds: 60 }).warnings).toEqual([]);
    expect(resolve({ validitySeconds: 601 }).warnings).toHaveLength(1);
  });
});
