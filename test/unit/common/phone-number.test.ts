import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import {
  countryOf,
  isCountryCode,
  isPhoneNumber,
  isValidNumber,
  maskNumber,
} from '../../../src/common/phone-numbers/phone-number.js';
import { notStrings } from '../../support/common/wrong-inputs.js';

/** Calling codes that several countries share, with the main country of each. */
const SHARED: readonly (readonly [code: string, main: string])[] = [
  ['1', 'US'],
  ['7', 'RU'],
  ['39', 'IT'],
  ['44', 'GB'],
  ['47', 'NO'],
  ['61', 'AU'],
  ['212', 'MA'],
  ['262', 'RE'],
  ['290', 'SH'],
  ['358', 'FI'],
  ['590', 'GP'],
  ['599', 'CW'],
];

describe('isPhoneNumber', () => {
  test.each(['22670000000', '1234567', '123456789012345'])('accepts %s', (number) => {
    expect(isPhoneNumber(number)).toBe(true);
  });

  test.each([
    ['', 'nothing'],
    ['123456', 'six digits'],
    ['1234567890123456', 'sixteen digits'],
    ['02267000000', 'a leading zero'],
    ['+22670000000', 'a plus sign'],
    ['226 70000000', 'a space'],
    ['22670000000\n', 'a line feed'],
    ['\n22670000000', 'a line feed first'],
    ['\u0662\u066267000000', 'Arabic digits'],
    ['\uff12\uff1267000000', 'fullwidth digits'],
    ['2267000000x', 'a letter'],
    ['22670000000\u200b', 'a zero-width space'],
  ])('refuses %j: %s', (number) => {
    expect(isPhoneNumber(number)).toBe(false);
  });

  test.each(notStrings('22670000000'))('refuses %s', (_, value) => {
    expect([isPhoneNumber(value), isValidNumber(value)]).toEqual([false, false]);
  });
});

describe('isValidNumber', () => {
  test.each(['22670123456', '33612345678', '447911123456', '390669812345', '18765551234', '870773111632'])(
    'accepts %s',
    (number) => {
      expect(isValidNumber(number)).toBe(true);
    },
  );

  test.each([
    ['22610000000', 'no such block'],
    ['2267012345', 'a digit too few'],
    ['4407911123456', 'a national prefix behind the calling code'],
    ['99912345678', 'no such calling code'],
    ['+22670123456', 'not digits only'],
    ['22670123456 ext 5', 'an extension'],
    ['', 'nothing'],
  ])('refuses %j: %s', (number) => {
    expect(isValidNumber(number)).toBe(false);
  });
});

describe('maskNumber', () => {
  test.each([
    ['22670123456', '226******56'],
    ['1234567', '123**67'],
    ['123456', '123*56'],
    ['12345', '*****'],
    ['', ''],
  ])('turns %j into %j', (number, masked) => {
    expect(maskNumber(number)).toBe(masked);
  });
});

describe('countryOf', () => {
  test.each([
    ['22670000000', 'BF'],
    ['221771234567', 'SN'],
    ['12125550123', 'US'],
    ['18765551234', 'JM'],
    ['16135550123', 'CA'],
    ['18005550123', 'US'],
    ['447400123456', 'GB'],
    ['447911123456', 'GG'],
    ['79161234567', 'RU'],
    ['77012345678', 'KZ'],
    ['393123456789', 'IT'],
    ['390669812345', 'VA'],
    ['262692123456', 'RE'],
    ['262639012345', 'YT'],
    ['5999123456', 'CW'],
    ['5997123456', 'BQ'],
    ['358412345678', 'FI'],
    ['358181234567', 'AX'],
  ])('%s belongs to %s', (number, country) => {
    expect(countryOf(number)).toBe(country);
  });

  test.each(['99912345678', '870773111632', '80012345678', '+22670000000', '', '0'])(
    '%j belongs to no country',
    (number) => {
      expect(countryOf(number)).toBeUndefined();
    },
  );

  test.each(SHARED)('+%s with digits of no numbering plan belongs to %s', (code, main) => {
    expect(countryOf(`${code}00`)).toBe(main);
  });

  test('agrees with the library on numbers of shared calling codes', () => {
    let known = 0;
    const number = fc
      .tuple(fc.constantFrom(...SHARED), fc.stringMatching(/^[0-9]{4,12}$/), fc.boolean())
      .map(([[code, main], digits, nanp]) => ({ main, number: nanp ? `1${digits}`.slice(0, 11) : code + digits }))
      .map(({ main, number }) => ({ main: number.startsWith('1') ? 'US' : main, number }));
    fc.assert(
      fc.property(number, ({ main, number }) => {
        const parsed = parsePhoneNumberFromString(`+${number}`);
        // Skips numbers that the library would repair first, because they become other numbers.
        fc.pre(parsed !== undefined && parsed.number === `+${number}`);
        expect(countryOf(number)).toBe(parsed?.country ?? main);
        if (parsed?.country) known++;
      }),
      { numRuns: 3000 },
    );
    expect(known).toBeGreaterThan(100);
  });
});

describe('isCountryCode', () => {
  test.each(['BF', 'US', 'GG', 'XK'])('accepts %s', (code) => {
    expect(isCountryCode(code)).toBe(true);
  });

  test.each(['bf', 'ZZ', 'BFA', '', '001', 'toString', 'UK'])('refuses %j', (code) => {
    expect(isCountryCode(code)).toBe(false);
  });
});
