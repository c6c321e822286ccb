import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isPhoneNumber, isValidNumber } from '../../../src/common/phone-numbers/phone-number.js';
import { type AddressOrigin, readAddress, readNumber } from '../../../src/common/phone-numbers/read-number.js';

const NBSP = '\u00a0';
const BF = { home: 'BF' } as const;

type Row = readonly [text: string, origin: AddressOrigin, number: string | undefined, why: string];

const MARKED: readonly Row[] = [
  ['+22670000001', {}, '22670000001', 'E.164'],
  ['0022670000001', {}, '22670000001', '00 for the plus sign'],
  ['+0022670000001', {}, '22670000001', 'a gateway put a plus sign before the 00'],
  ['22670000001', {}, '22670000001', 'digits only, as most gateways write'],
  [' 22670000001\r\n', {}, '22670000001', 'white space around it'],
  ['22670000001\0', {}, '22670000001', 'a NUL at the end'],
  ['+226 70 00 00 01', {}, '22670000001', 'blanks'],
  [`+226${NBSP}70${NBSP}00${NBSP}00${NBSP}01`, {}, '22670000001', 'no-break spaces'],
  ['+226\u202f70\u202f00\u202f00\u202f01', {}, '22670000001', 'narrow no-break spaces'],
  ['+226-70-00-00-01', {}, '22670000001', 'hyphens'],
  ['+226\u201170\u201300\u201400\u221201', {}, '22670000001', 'dashes and a minus sign'],
  ['+226.70.00.00.01', {}, '22670000001', 'dots'],
  ['+226/70000001', {}, '22670000001', 'a slash'],
  ['(+226) 70-00-00-01', {}, '22670000001', 'parentheses'],
  ['\u202a+226 70 00 00 01\u202c', {}, '22670000001', 'marks of direction, as phone books copy them'],
  ['+226\u200b70000001', {}, '22670000001', 'a zero-width space'],
  ['＋２２６７０００００１１', {}, '22670000011', 'full-width'],
  ['+٢٢٦٧٠٠٠٠٠٠١', {}, '22670000001', 'Arabic-Indic digits'],
  ['+۲۲۶۷۰۰۰۰۰۰۱', {}, '22670000001', 'Persian digits'],
  ['+२२६७०००००००१', {}, undefined, 'Devanagari digits, one too many'],
  ['+२२६७००००००१', {}, '22670000001', 'Devanagari digits'],
  ['tel:+22670000001', {}, '22670000001', 'a URI'],
  ['TEL:+226-70-00-00-01', {}, '22670000001', 'a URI with separators'],
  ['tel:70000001;phone-context=+226', {}, '22670000001', 'a local URI with its context (RFC 3966)'],
  ['tel:+22670000001;ext=5', {}, '22670000001', 'a URI with an extension'],
  ['sip:+22670000001@ims.example.org;user=phone', {}, '22670000001', 'a SIP address'],
  ['sms:+22670000001?body=x', {}, '22670000001', 'a URI of a text'],
  ['whatsapp:+22670000001', {}, '22670000001', 'Twilio'],
  ['+22670000001/TYPE=PLMN', {}, '22670000001', 'an address of an MMS'],
  ['+44 (0)7911 123456', {}, '447911123456', 'a trunk zero in parentheses'],
  ['+226 (0)70 00 00 01', {}, '22670000001', 'a trunk zero where the country has none'],
  ['4407911123456', {}, '447911123456', 'a trunk zero behind the calling code'],
  ['+39 06 698 12345', {}, '390669812345', 'a zero that belongs to the number'],
  ['+22610000000', {}, '22610000000', 'a block that we do not know, of the right length'],
  ['+870773111632', {}, '870773111632', 'a satellite phone'],
  ['+1 (212) 555-0123', {}, '12125550123', 'North America'],
];

const AT_HOME: readonly Row[] = [
  ['70000001', BF, '22670000001', 'national'],
  ['70 00 00 01', BF, '22670000001', 'national, with blanks'],
  ['70000002', { home: 'BF', type: 'national' }, '22670000002', 'marked as national'],
  ['070000003', BF, '22670000003', 'a trunk zero where the country has none'],
  ['070000003', { home: 'BF', type: 'national' }, '22670000003', 'the same, marked as national'],
  ['70000001', { home: 'BF', type: 'international' }, '22670000001', 'marked wrongly as international'],
  ['22670000001', BF, '22670000001', 'with the calling code'],
  ['22670000001', { home: 'BF', type: 'national' }, '22670000001', 'marked wrongly as national'],
  ['22610000000', BF, '22610000000', 'an unknown block of the home country'],
  ['67720123', BF, '22667720123', 'also of the Solomon Islands, but people at home write it so'],
  ['٧٠٠٠٠٠٠١', BF, '22670000001', 'national in Arabic-Indic digits'],
  ['33612345678', BF, '33612345678', 'abroad'],
  ['0612345678', { home: 'FR' }, '33612345678', 'a trunk zero'],
  ['612345678', { home: 'FR' }, '33612345678', 'without the trunk zero'],
  ['0151 23456789', { home: 'DE' }, '4915123456789', 'Germany'],
  ['8 916 123-45-67', { home: 'RU' }, '79161234567', 'the Russian trunk prefix'],
  ['06 30 123 4567', { home: 'HU' }, '36301234567', 'the Hungarian trunk prefix'],
  ['2125550123', { home: 'US' }, '12125550123', 'ten digits'],
  ['1 212 555 0123', { home: 'US' }, '12125550123', 'eleven digits'],
  ['011 226 70 00 00 01', { home: 'US' }, '22670000001', 'the American way out'],
  ['212345', { home: 'FO' }, '298212345', 'six digits on the Faroe Islands'],
  ['06 698 12345', { home: 'IT' }, '390669812345', 'a zero that is no trunk prefix'],
  ['0707080910', { home: 'CI' }, '2250707080910', "Côte d'Ivoire"],
  ['0197000001', { home: 'BJ' }, '2290197000001', 'Benin'],
  ['97000001', { home: 'BJ' }, '2290197000001', 'Benin until 2024'],
  ['011 15 2345-6789', { home: 'AR' }, '5491123456789', 'an Argentine mobile number'],
  ['11 98765-4321', { home: 'BR' }, '5511987654321', 'a Brazilian mobile number'],
  ['1187654321', { home: 'BR' }, '5511987654321', 'the same before the ninth digit'],
];

const CHANGED: readonly Row[] = [
  ['+22997000001', {}, '2290197000001', 'Benin until 2024'],
  ['22507080910', {}, '2250707080910', "Côte d'Ivoire until 2021"],
  ['5215512345678', {}, '525512345678', 'Mexico until 2019'],
  ['551187654321', {}, '5511987654321', 'Brazil before the ninth digit'],
  ['+54 11 15 2345 6789', {}, '5491123456789', 'Argentina with 15'],
  ['23770123456', {}, '237670123456', 'Cameroon until 2014'],
];

const UNREADABLE: readonly Row[] = [
  ['70000001', {}, undefined, 'national, home not known; +7 is Russia'],
  ['70000001', { type: 'international' }, undefined, 'no number of +7 is that short'],
  ['70000002', { type: 'national' }, undefined, 'national, home not known'],
  ['070000003', {}, undefined, 'a trunk zero, home not known'],
  ['67720123', {}, undefined, 'of the Solomon Islands or of Burkina Faso'],
  ['376312345', { home: 'FR' }, undefined, 'of Andorra, or of France without its zero'],
  ['33612345678', { home: 'BF', type: 'national' }, undefined, 'marked as national, but of another country'],
  ['+70000001', BF, undefined, 'marked as international and too short'],
  ['7000000', BF, undefined, 'a digit too few'],
  ['700000011', BF, undefined, 'a digit too many'],
  ['+99912345678', {}, undefined, 'no such calling code'],
  ['22670000001 ext 5', {}, undefined, 'an extension in words'],
  ['+226 70 00 00 01 ext 5', {}, undefined, 'an extension in words'],
  ['+226+70000001', {}, undefined, 'two plus signs'],
  ['22670000001,22670000002', {}, undefined, 'two numbers'],
  ['1234567890123456', {}, undefined, 'more than 15 digits'],
  ['7654321', { type: 'short' }, undefined, 'too long for a short code'],
  ['', {}, undefined, 'nothing'],
  ['   ', {}, undefined, 'blanks only'],
  ['+', {}, undefined, 'a plus sign only'],
  ['---', {}, undefined, 'separators only'],
  ['2267000000*', {}, undefined, 'a character that is no separator'],
];

describe('readNumber', () => {
  test.each([...MARKED, ...AT_HOME, ...CHANGED, ...UNREADABLE])('reads %j %j as %s: %s', (text, origin, number) => {
    expect(readNumber(text, origin)).toBe(number);
  });

  const origins = fc.record({
    home: fc.constantFrom(undefined, 'BF', 'BJ', 'FR', 'US', 'RU', 'AR', 'BR', 'IT'),
    type: fc.constantFrom(undefined, 'unknown', 'international', 'national', 'short', 'alphanumeric'),
  } as const);
  const texts = fc
    .tuple(
      fc.constantFrom('+', '00', '0', ''),
      fc.constantFrom('', '226', '33', '1', '7', '229', '54', '55', '241'),
      fc.stringMatching(/^[0-9]{2} ?[0-9]{2}-?[0-9]{2}[0-9 ]{2,5}$/),
    )
    .map((parts) => parts.join(''));

  test('reads its own result as the same number', () => {
    let read = 0;
    fc.assert(
      fc.property(texts, origins, (text, origin) => {
        const number = readNumber(text, origin);
        if (number === undefined) return;
        read++;
        expect(isPhoneNumber(number)).toBe(true);
        expect(readNumber(`+${number}`, origin)).toBe(number);
      }),
      { numRuns: 2000 },
    );
    expect(read).toBeGreaterThan(200);
  });

  test('reads a valid number unchanged, however it is written and whatever the home country is', () => {
    const number = fc
      .tuple(
        fc.constantFrom('226', '33', '49', '1', '7', '229', '225', '52', '54', '55', '241', '44', '39'),
        fc.stringMatching(/^[0-9]{7,11}$/),
      )
      .map(([code, digits]) => code + digits)
      .filter(isValidNumber);
    fc.assert(
      fc.property(number, origins, (digits, { home }) => {
        const formatted = parsePhoneNumberFromString(`+${digits}`)?.formatInternational() ?? '';
        for (const text of [`+${digits}`, `00${digits}`, `tel:+${digits}`, formatted]) {
          expect(readNumber(text, { home })).toBe(digits);
        }
        expect(readNumber(digits, { home, type: 'international' })).toBe(digits);
      }),
      { numRuns: 300 },
    );
  });

  test('never returns a number whose digits are not in the input', () => {
    fc.assert(
      fc.property(texts, origins, (text, origin) => {
        const number = readNumber(text, origin);
        if (number === undefined) return;
        expect(number.slice(-6)).toBe(text.replace(/\D/g, '').slice(-6));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readAddress', () => {
  test.each([
    ['36111', {}],
    ['36111', { type: 'short' }],
    ['36111', { home: 'BF' }],
    ['36111', { home: 'DE' }],
    ['36111', { home: 'DE', type: 'short' }],
    ['36111', { type: 'international' }],
    ['111', {}],
    ['ORANGE', { type: 'alphanumeric' }],
    ['ORANGE', {}],
    ['Crédit 24', {}],
  ] as const)('takes %j %j for a name', (text, origin) => {
    expect(readAddress(text, origin)).toEqual({ kind: 'name', name: text });
  });

  test.each([
    ['+36111', '36111'],
    [' 36 111 ', '36111'],
    [' ORANGE\0', 'ORANGE'],
  ])('takes %j for the name %j', (text, name) => {
    expect(readAddress(text)).toEqual({ kind: 'name', name });
  });

  test('takes a number for a number even if it is marked as alphanumeric', () => {
    expect(readAddress('+22670000001', { type: 'alphanumeric' })).toEqual({ kind: 'number', number: '22670000001' });
    expect(readAddress('22670000001', { type: 'alphanumeric' })).toEqual({ kind: 'number', number: '22670000001' });
  });
});
