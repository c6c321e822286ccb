import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { catalogueOf } from '../../../src/common/text/catalogue.js';
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

  test.each<[string, OtpServiceOptions]>([
    ['WebOTP', { webOtpHost: 'shop.example.com' }],
    ['the SMS Retriever', { retrieverHash: 'FA+9qCX9VSu' }],
  ])('for %s has at most 140 bytes, whatever the service is called', (_, own) => {
    const service = fc.oneof(
      fc.string({ maxLength: 128 }),
      fc.string({ unit: fc.constantFrom('é', 'x', 'Ω', '€'), maxLength: 128 }),
    );
    const bytes = (name: string): number => {
      const text = textOf({ [name]: own }).render({ code: '00420042', service: name, validity: 3599 });
      expect(text.endsWith(own.retrieverHash ?? `@${own.webOtpHost} #00420042`)).toBe(true);
      return Buffer.byteLength(text);
    };
    fc.assert(fc.property(service, (name) => bytes(name) <= 140));
    // The longest name that fits is kept, and one more character leaves the name out.
    const capacity = 140 - bytes('x') + 1;
    expect(bytes('x'.repeat(capacity))).toBe(140);
    expect(bytes('x'.repeat(capacity + 1))).toBeLessThan(140);
    expect(bytes('é'.repeat(Math.floor(capacity / 2) + 1))).toBeLessThan(140);
  });

  test('a name in another normal form has the options of its service', () => {
    const [composed, decomposed] = ['Café', 'Cafe\u0301'];
    const pepper = 'a pepper for tests, 0123456789 abcdef';
    for (const name of [composed, decomposed]) {
      const { text } = resolveOtpSettings({ pepper, services: { [name]: { signature: 'CAFE' } } });
      expect(text.signatureOf(composed)).toBe('CAFE');
    }
    const twice = { [composed]: {}, [decomposed]: {} };
    expect(() => resolveOtpSettings({ pepper, services: twice })).toThrow('is given twice');
  });

  test.each([
    ['example.com:8080', 'Write "example.com"'],
    ['https://example.com', 'Write "example.com"'],
    ['https://user:pass@example.com/login?x#y', 'Write "example.com"'],
    ['example.com/login', 'Write "example.com"'],
    ['user@example.com', 'Write "example.com"'],
    ['@example.com', 'Write "example.com"'],
    ['example.com.', 'Write "example.com"'],
    ['Example.COM', 'Write "example.com"'],
    [' example.com', 'Write "example.com"'],
    ['café.example', 'Write "xn--caf-dma.example"'],
    ['example。com', 'Write "example.com"'],
    ['', 'must be a host name'],
    [' ', 'must be a host name'],
    ['localhost', 'must be a host name'],
    ['192.0.2.1', 'must be a host name'],
    ['[2001:db8::1]', 'must be a host name'],
    ['2130706433', 'must be a host name'],
    ['my_shop.example.com', 'must be a host name'],
    ['-shop.example.com', 'must be a host name'],
    ['shop-.example.com', 'must be a host name'],
    ['shop..example.com', 'must be a host name'],
    ['.example.com', 'must be a host name'],
    ['*.example.com', 'must be a host name'],
    ['exam ple.com', 'must be a host name'],
    ['example.com #1234', 'must be a host name'],
    [`${'a'.repeat(64)}.example.com`, 'must be a host name'],
    [`${'abcdefg.'.repeat(32)}example.com`, 'must be a host name'],
  ])('refuses %j as the host of WebOTP: %s', (webOtpHost, sentence) => {
    const pepper = 'a pepper for tests, 0123456789 abcdef';
    const start = () => resolveOtpSettings({ pepper, services: { shop: { webOtpHost } } });
    expect(start).toThrow(sentence);
    expect(start).toThrow('Option otp.services["shop"].webOtpHost must be a host name such as example.com');
  });

  test.each([
    'example.com',
    'a.b.c.example.co.uk',
    'xn--caf-dma.example',
    'my-shop.example',
    '1.example.com',
    '1and1.com',
  ])('accepts the host of WebOTP: %s', (webOtpHost) => {
    const pepper = 'a pepper for tests, 0123456789 abcdef';
    expect(() => resolveOtpSettings({ pepper, services: { shop: { webOtpHost } } })).not.toThrow();
  });

  test('treats a name only as a name, whatever it looks like', () => {
    const text = textOf().render({ code: '0042', service: '{code} $& {validity}', validity: 300 });
    expect(text).toContain('{code} $& {validity}');
    expect(textOf().render({ code: '0042', service: 'constructor', validity: 300 })).toContain('constructor');
    expect(textOf().signatureOf('__proto__')).toBeUndefined();
  });

  test('ends with a line for WebOTP or for the SMS Retriever', () => {
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
    ['the text has 141 bytes', { template: `{code}${'x'.repeat(124)}`, retrieverHash: 'FA+9qCX9VSu' }],
    ['the text has 142 bytes', { template: `{code}é${'x'.repeat(116)}`, webOtpHost: 'example.com' }],
    ['the text has 141 bytes', { webOtpHost: `${'abcdefg.'.repeat(9)}example` }],
    ['retrieverHash', { retrieverHash: 'FA+9qCX9VSu=' }],
    ['retrieverHash', { retrieverHash: 'FA-9qCX9VS_' }],
    ['retrieverHash', { retrieverHash: 'FA+9qCX9VSu\n' }],
    ['only one of', { webOtpHost: 'example.com', retrieverHash: 'FA+9qCX9VSu' }],
    ['webOtpHost', { webOtpHost: 'https://example.com' }],
    ['retrieverHash', { retrieverHash: 'short' }],
  ])('is checked at the start: %s', (sentence, options) => {
    const pepper = 'a pepper for tests, 0123456789 abcdef';
    expect(() => resolveOtpSettings({ pepper, services: { bank: options } })).toThrow(sentence);
  });

  test('is refused at the start if it does not fit', () => {
    const catalogue = { ...catalogueOf('fr'), 'otp.text_unnamed': '{code} — '.padEnd(80, 'x') };
    expect(() => new OtpText(catalogue, {}).check(4)).toThrow('otp.text_unnamed');
  });
});
