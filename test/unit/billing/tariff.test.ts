import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compileTariff, type TariffOptions } from '../../../src/billing/tariff.js';
import { MessagingOptionsError } from '../../../src/common/errors.js';

const options: TariffOptions = {
  base: 1,
  international: 9,
  home: 'BF',
  countries: { SN: 2, US: 3, JM: 4, CA: 5, GB: 6, GG: 7, KZ: 8, ML: 0 },
  prefixes: { '22177': 11, '221770': 12, '2217': 13, '22676': 14, '888': 15 },
};

describe('unitsFor', () => {
  test.each([
    ['22670000000', 1, 'home'],
    ['221331234567', 2, 'a country'],
    ['22370000000', 0, 'a country that costs nothing'],
    ['33612345678', 9, 'a country that is not named'],
    ['12125550123', 3, 'the United States'],
    ['18765551234', 4, 'Jamaica, of the same calling code'],
    ['16135550123', 5, 'Canada, of the same calling code'],
    ['14415550123', 9, 'Bermuda, of the same calling code and not named'],
    ['447400123456', 6, 'Great Britain'],
    ['447911123456', 7, 'Guernsey'],
    ['79161234567', 9, 'Russia, not named'],
    ['77012345678', 8, 'Kazakhstan'],
    ['44000000000', 6, 'a shared calling code, no country’s number: the main country'],
    ['99912345678', 9, 'no calling code'],
    ['870773111632', 9, 'satellite'],
    ['221701234567', 13, 'a prefix'],
    ['221781234567', 13, 'a prefix'],
    ['221771234567', 11, 'a longer prefix'],
    ['221770234567', 12, 'the longest prefix'],
    ['22676000000', 14, 'a prefix within the home country'],
    ['88812345678', 15, 'a prefix of no country'],
  ])('%s costs %d: %s', (number, units) => {
    expect(compileTariff(options).unitsFor(number)).toBe(units);
  });

  test('charges the base tariff for the home country, which may be listed with that tariff only', () => {
    expect(compileTariff({ ...options, countries: { BF: 1 } }).unitsFor('22670000000')).toBe(1);
    expect(() => compileTariff({ ...options, countries: { BF: 5 } })).toThrow(
      new MessagingOptionsError(
        'tariff.countries.BF is 5, and BF is the home market, whose tariff is base (1): leave it out',
      ),
    );
  });

  test('works without countries or prefixes', () => {
    const tariff = compileTariff({ base: 1, international: 3, home: 'SN', countries: undefined });
    expect(['221771234567', '22670000000'].map((number) => tariff.unitsFor(number))).toEqual([1, 3]);
  });

  test('is not affected by later changes of the options object', () => {
    const prefixes = { '226': 5 };
    const tariff = compileTariff({ ...options, prefixes });
    prefixes['226'] = 6;
    expect(tariff.unitsFor('22670000000')).toBe(5);
  });

  test('applies the longest prefix, like a plain search through all prefixes', () => {
    const digits = fc.stringMatching(/^[1-3][0-3]{0,7}$/);
    const prefixes = fc.dictionary(digits, fc.integer({ min: 0, max: 1000 }), { maxKeys: 30, noNullPrototype: true });
    const number = fc.stringMatching(/^[1-3][0-3]{6,14}$/);
    fc.assert(
      fc.property(prefixes, fc.array(number, { minLength: 1, maxLength: 20 }), (prefixes, numbers) => {
        const tariff = compileTariff({ ...options, prefixes });
        const bare = compileTariff({ ...options, prefixes: {} });
        for (const number of numbers) {
          const [longest] = Object.keys(prefixes)
            .filter((prefix) => number.startsWith(prefix))
            .sort((a, b) => b.length - a.length);
          const expected = longest === undefined ? bare.unitsFor(number) : prefixes[longest];
          expect(tariff.unitsFor(number)).toBe(expected);
        }
      }),
    );
  });

  test('returns an integer for every number', () => {
    const tariff = compileTariff(options);
    fc.assert(
      fc.property(fc.stringMatching(/^[1-9]\d{6,14}$/), (number) => {
        expect(Number.isInteger(tariff.unitsFor(number))).toBe(true);
      }),
    );
  });
});

describe('compileTariff', () => {
  test.each<[string, object]>([
    ['tariff.base must be an integer from 0 to 1000000', { base: -1 }],
    ['tariff.base must be an integer from 0 to 1000000', { base: undefined }],
    ['tariff.base must be an integer from 0 to 1000000', { base: '1' }],
    ['tariff.international must be an integer from 0 to 1000000', { international: 1.5 }],
    ['tariff.international must be an integer from 0 to 1000000', { international: 1_000_001 }],
    ['tariff.international must be an integer from 0 to 1000000', { international: Number.NaN }],
    ['tariff.home must be a country code of ISO 3166, two capital letters such as BF', { home: 'bf' }],
    ['tariff.home must be a country code of ISO 3166, two capital letters such as BF', { home: undefined }],
    ['tariff.countries must be an object', { countries: [] }],
    ['tariff.countries must be an object', { countries: 'SN' }],
    ['tariff.countries must be an object', { countries: null }],
    ['tariff.countries.SN must be an integer from 0 to 1000000', { countries: { SN: '2' } }],
    ['tariff.countries.UK is no country: use ISO 3166 codes, two capital letters such as SN', { countries: { UK: 2 } }],
    ['tariff.prefixes.22177 must be an integer from 0 to 1000000', { prefixes: { '22177': null } }],
    ['tariff.prefixes.+221 is no prefix: use 1 to 15 digits, the first one not 0', { prefixes: { '+221': 1 } }],
    ['tariff.prefixes.00221 is no prefix: use 1 to 15 digits, the first one not 0', { prefixes: { '00221': 1 } }],
    ['tariff.prefixes. is no prefix: use 1 to 15 digits, the first one not 0', { prefixes: { '': 1 } }],
    [
      'tariff.prefixes.1234567890123456 is no prefix: use 1 to 15 digits, the first one not 0',
      { prefixes: { '1234567890123456': 1 } },
    ],
  ])('refuses options with the message: %s', (sentence, wrong) => {
    expect(() => compileTariff({ ...options, ...wrong })).toThrow(new MessagingOptionsError(sentence));
  });

  test('accepts values at the limits', () => {
    expect(compileTariff({ ...options, base: 0, international: 1_000_000 }).unitsFor('22670000000')).toBe(0);
  });
});
