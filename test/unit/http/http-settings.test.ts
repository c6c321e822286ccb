import { describe, expect, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { en } from '../../../src/common/text/catalogue.en.js';
import { fr } from '../../../src/common/text/catalogue.fr.js';
import { type HttpOptions, resolveHttpSettings } from '../../../src/http/http-options.js';

describe('resolveHttpSettings', () => {
  test('has the documented defaults', () => {
    expect(resolveHttpSettings()).toEqual({
      path: 'api/v1',
      controllers: true,
      maxBodyBytes: 52_428_800,
      requestMs: 30_000,
      maxInFlight: 1000,
      catalogue: fr,
      maxRecipients: 100_000,
    });
  });

  test('accepts the options of the host', () => {
    const options: HttpOptions = {
      path: '/msg/v2/',
      controllers: false,
      limits: { bodyBytes: 1000, requestMs: 5, inFlight: 7 },
      locale: 'en',
      maxRecipients: 3,
    };
    expect(resolveHttpSettings(options)).toEqual({
      path: 'msg/v2',
      controllers: false,
      maxBodyBytes: 1000,
      requestMs: 5,
      maxInFlight: 7,
      catalogue: en,
      maxRecipients: 3,
    });
    expect(resolveHttpSettings({ locale: { 'error.timeout': 'Zu langsam' } }).catalogue).toEqual({
      ...fr,
      'error.timeout': 'Zu langsam',
    });
  });

  test.each<[string, unknown]>([
    ['path', { path: '' }],
    ['path', { path: '/' }],
    ['path', { path: 'a//b' }],
    ['path', { path: 'a/:b' }],
    ['path', { path: 7 }],
    ['limits.bodyBytes', { limits: { bodyBytes: 0 } }],
    ['limits.bodyBytes', { limits: { bodyBytes: 1e12 } }],
    ['limits.requestMs', { limits: { requestMs: 1.5 } }],
    ['limits.requestMs', { limits: { requestMs: '30' } }],
    ['limits.inFlight', { limits: { inFlight: 0 } }],
    ['limits.inFlight', { limits: { inFlight: 1_000_001 } }],
    ['maxRecipients', { maxRecipients: Number.NaN }],
    ['locale', { locale: 'de' }],
    ['locale', { locale: 7 }],
    ['locale', { locale: { 'error.nonsense': 'x' } }],
    ['locale', { locale: { 'error.timeout': '' } }],
  ])('refuses a wrong %s in a sentence that names it: %j', (name, options) => {
    const resolve = (): unknown => Reflect.apply(resolveHttpSettings, undefined, [options]);
    expect(resolve).toThrow(MessagingOptionsError);
    expect(resolve).toThrow(new RegExp(`^Option ${name.replace('.', '\\.')}\\b`));
  });
});
