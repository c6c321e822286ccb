import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { catalogueOf } from '../../../src/common/catalogue.js';
import { resolveOtpSettings } from '../../../src/otp/otp-settings.js';
import { type OtpServiceOptions, OtpText } from '../../../src/otp/otp-text.js';
import { measure } from '../../../src/sms/segmentation.js';

const textOf = (services: Record<string, OtpServiceOptions> = {}, locale: 'fr' | 'en' = 'fr') =>
  new OtpText(catalogueOf(locale), services);

describe('the text of a code', () => {
  test('names the service and the validity', () => {
    expect(textOf().render({ code: '0042', service: 'Boutique', validity: 300 })).toBe(
      '0042 est votre code de vérification Boutique. Valable 5 min.',
    );
    expect(textOf({}, 'en').render({ code: '0042', service: 'Shop', validity: 45 })).toBe(
      '0042 is your verification code for Shop. Valid for 45 s.',
    );
  });

  test.each(['x'.repeat(128), 'été à Conakry, crêpes', 'Магазин', '😀', 'a\nb', '\u0000', '\ud800'])(
    'leaves out a name that does not fit: %j',
    (service) => {
      expect(textOf().render({ code: '0042', service, validity: 300 })).toBe(
        '0042 est votre code de vérification. Valable 5 min.',
      );
    },
  );

  test('is one GSM-7 segment whatever the service is called, and begins with the code', () => {
    const service = fc.oneof(fc.string({ maxLength: 128 }), fc.string({ unit: 'grapheme', maxLength: 128 }));
    const options = fc.constantFrom<OtpServiceOptions>(
      {},
      { webOtpHost: 'shop.example.com' },
      { retrieverHash: 'FA+9qCX9VSu' },
    );
    fc.assert(
      fc.property(
        service,
        fc.integer({ min: 1, max: 3600 }),
        options,
        fc.constantFrom('fr', 'en'),
        (name, validity, own, locale) => {
          const text = textOf({ [name]: own }, locale).render({ code: '00420042', service: name, validity });
          expect(measure(text)).toMatchObject({ encoding: 'GSM-7', segments: 1 });
          expect(text).toMatch(/^00420042 /);
        },
      ),
      { numRuns: 5000 },
    );
  });

  test('a name is only a name, whatever it looks like', () => {
    const text = textOf().render({ code: '0042', service: '{code} $& {validity}', validity: 300 });
    expect(text).toContain('{code} $& {validity}');
    expect(textOf().render({ code: '0042', service: 'constructor', validity: 300 })).toContain('constructor');
    expect(textOf().signatureOf('__proto__')).toBeUndefined();
  });

  test('a last line for WebOTP, or for the SMS Retriever', () => {
    const services = { web: { webOtpHost: 'example.com' }, app: { retrieverHash: 'FA+9qCX9VSu' } };
    const text = textOf(services);
    text.check(4);
    expect(text.render({ code: '0042', service: 'web', validity: 300 }).split('\n').at(-1)).toBe('@example.com #0042');
    expect(text.render({ code: '0042', service: 'app', validity: 300 }).split('\n').at(-1)).toBe('FA+9qCX9VSu');
  });

  test("a host's own template", () => {
    const text = textOf({ bank: { template: '{service}: {code} ({validity})' } });
    text.check(6);
    expect(text.render({ code: '004200', service: 'bank', validity: 299 })).toBe('bank: 004200 (4 min)');
  });

  test.each<[string, OtpServiceOptions]>([
    ['must contain {code}', { template: 'hello' }],
    ['longer than one SMS', { template: `{code} ${'x'.repeat(160)}` }],
    ['longer than one SMS', { template: '{code} ê' }],
    ['longer than one SMS', { template: `{code}${'x'.repeat(140)}`, webOtpHost: 'example.com' }],
    ['only one of', { webOtpHost: 'example.com', retrieverHash: 'FA+9qCX9VSu' }],
    ['webOtpHost', { webOtpHost: 'https://example.com' }],
    ['retrieverHash', { retrieverHash: 'short' }],
  ])('is checked at start: %s', (sentence, options) => {
    const pepper = 'a pepper for tests, 0123456789 abcdef';
    expect(() => resolveOtpSettings({ pepper, services: { bank: options } })).toThrow(sentence);
  });

  test('texts of the host that do not fit are refused at start too', () => {
    const catalogue = { ...catalogueOf('fr'), 'otp.text_unnamed': '{code} — '.padEnd(80, 'x') };
    expect(() => new OtpText(catalogue, {}).check(4)).toThrow('otp.text_unnamed');
  });
});
