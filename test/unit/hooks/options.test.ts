import { expect, test } from '@jest/globals';
import { resolveLoginHookSettings } from '../../../src/hooks/login-hook-options.js';
import { PEPPER } from '../../support/otp/otp-app.js';

test.each<[string, unknown, string | RegExp]>([
  ['no pepper', {}, /^Option hooks is missing: \{ pepper \}/],
  ['a short pepper', { pepper: 'short' }, /^Option hooks\.pepper is too weak/],
  ['an unknown limit', { pepper: PEPPER, limits: 'lax' }, /^Option hooks\.limits must be "standard", "strict", "none"/],
  ['a wrong country', { pepper: PEPPER, limits: { countries: ['XX'] } }, /^Option hooks\.limits\.countries/],
  ['no URL', { pepper: PEPPER, baseUrl: 'api.example.com' }, /^Option hooks\.baseUrl must be an http or https URL/],
  ['an unknown option', { pepper: PEPPER, secret: 'x' }, /secret/],
])('%s is refused with a sentence', (_, options, sentence) => {
  expect(() => resolveLoginHookSettings(Object(options))).toThrow(sentence);
});

test('the limits of otp count unless hooks has its own', () => {
  expect(resolveLoginHookSettings({ pepper: PEPPER }, { otpLimits: 'strict', home: 'BF' }).limits.preset).toBe(
    'strict',
  );
  const own = resolveLoginHookSettings({ pepper: PEPPER, limits: 'none' }, { otpLimits: 'strict', home: 'BF' });
  expect(own.limits.preset).toBe('none');
});
