import { describe, expect, test } from '@jest/globals';
import { getCountries, getExampleNumber } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { MessagingError } from '../../../src/common/errors.js';
import { RecipientNumbers, type StrictNumbers } from '../../../src/common/phone-numbers/recipient-number.js';

/** `taken`, the number that was meant, or `refused` if nobody knows it. */
function verdict(number: unknown, home: string | null = 'BF', strict: StrictNumbers = 'home'): string {
  try {
    const numbers: RecipientNumbers = new RecipientNumbers(strict, home ?? undefined);
    numbers.check(number);
    return 'taken';
  } catch (error) {
    if (!(error instanceof MessagingError) || error.code !== 'error.invalid_number') throw error;
    return String(error.values.meant ?? 'refused');
  }
}

const MOBILES = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? []);

describe('numbers of the home market', () => {
  test('a valid number of any country is accepted, whatever the home market is', () => {
    expect(MOBILES.length).toBeGreaterThan(200);
    const refused = getCountries().flatMap((home) => {
      const numbers: RecipientNumbers = new RecipientNumbers('home', home);
      return MOBILES.filter(({ number }) => {
        try {
          numbers.check(number.slice(1));
          return false;
        } catch {
          return true;
        }
      }).map(({ number }) => `${number} at ${home}`);
    });
    expect(refused).toEqual([]);
  });

  test.each([
    ['22670000001', 'BF', 'a whole number'],
    ['22610000000', 'BF', 'a block that we do not know yet'],
    ['33612345678', 'BF', 'another country'],
    ['67720123', 'BF', 'a valid number of the Solomon Islands, though also one of home without its code'],
    ['70000001', 'FR', 'no number of this home market'],
    ['4740612345', 'US', 'a valid number of Norway'],
    ['12125550123', 'US', 'North America'],
    ['12042345678', 'US', 'a country that shares the calling code'],
    ['77012345678', 'RU', 'Kazakhstan, which shares the calling code'],
    ['390669812345', 'IT', 'a zero that belongs to the number'],
    ['39066981', 'IT', 'a short landline'],
    ['2250707080910', 'CI', 'a zero that belongs to the number'],
    ['22507080910', 'CI', 'the old spelling of a phone'],
    ['22997000001', 'BJ', 'the old spelling of a phone'],
    ['5215512345678', 'MX', 'the old spelling of a phone'],
    ['551187654321', 'BR', 'the old spelling of a phone'],
    ['493012345', 'DE', 'numbers of several lengths'],
    ['870773111632', 'BF', 'a satellite phone'],
  ])('%s is accepted at home in %s: %s', (number, home) => {
    expect(verdict(number, home)).toBe('taken');
  });

  test.each([
    ['70000001', 'BF', '22670000001', 'without the calling code'],
    ['25300001', 'BF', '22625300001', 'a landline without the calling code'],
    ['226070000001', 'BF', '22670000001', 'a trunk zero behind the calling code'],
    ['22622670000001', 'BF', '22670000001', 'the calling code twice'],
    ['612345678', 'FR', '33612345678', 'without the calling code and the zero'],
    ['330612345678', 'FR', '33612345678', 'a trunk zero behind the calling code'],
    ['4407400123456', 'GB', '447400123456', 'a trunk zero behind the calling code'],
    ['4407911123456', 'GB', '447911123456', 'the same on Guernsey, which shares the calling code'],
    ['49015123456789', 'DE', '4915123456789', 'a trunk zero in a length that exists'],
    ['2125550123', 'US', '12125550123', 'ten digits'],
    ['89161234567', 'RU', '79161234567', 'the Russian trunk prefix'],
    ['97000001', 'BJ', '2290197000001', 'Benin until 2024, without the calling code'],
    ['771234567', 'SN', '221771234567', 'without the calling code'],
    ['700000001', 'CI', '2250700000001', 'a zero of the number, which a spreadsheet drops'],
    ['197000001', 'BJ', '2290197000001', 'a zero of the number, which a spreadsheet drops'],
    ['0612345678', 'FR', '33612345678', 'as people there write it'],
    ['06 12 34 56 78', 'FR', '33612345678', 'as people there write it, in pairs'],
    ['(415) 555-2671', 'US', '14155552671', 'as people there write it'],
    ['0803 123 4567', 'NG', '2348031234567', 'as people there write it'],
    ['+226 70 00 00 01', 'BF', '22670000001', 'with a plus sign'],
    ['0022670000001', 'FR', '22670000001', 'with two zeros, and in another country'],
  ])('%s is refused at home in %s, and %s is suggested: %s', (number, home, meant) => {
    expect(verdict(number, home)).toBe(meant);
  });

  test.each([
    ['2267000000', 'BF', 'a digit too few'],
    ['226700000012', 'BF', 'a digit too many'],
    ['3361234567', 'FR', 'a digit too few'],
    ['1212555012', 'US', 'a digit too few'],
  ])('%s is refused at home in %s: %s', (number, home) => {
    expect(verdict(number, home)).toBe('refused');
  });

  test('are not checked if the host switches the check off, or if the home market is not known', () => {
    for (const number of ['70000001', '2267000000', '226070000001']) {
      expect(verdict(number, 'BF', false)).toBe('taken');
      expect(verdict(number, null)).toBe('taken');
    }
    expect(verdict('+22670000001', 'BF', false)).toBe('refused');
  });

  test('with `true`, every number outside all numbering plans is refused too', () => {
    expect(verdict('22610000000', 'BF', true)).toBe('refused');
    expect(verdict('3361234567', 'BF', true)).toBe('refused');
    expect(verdict('3361234567', null, true)).toBe('refused');
    expect(verdict('70000001', 'BF', true)).toBe('22670000001');
    expect(verdict('33612345678', 'BF', true)).toBe('taken');
  });

  test.each([22670000001, null, undefined, {}, ['22670000001'], true])('refuses %j as a number', (value) => {
    expect(verdict(value)).toBe('refused');
  });
});
