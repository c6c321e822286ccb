import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isPhoneNumber } from '../../../src/common/phone-numbers/phone-number.js';
import { phoneOf, spellingsOf } from '../../../src/common/phone-numbers/phone-spellings.js';

/** Numbers of one phone, in today's spelling first. */
const PHONES: readonly (readonly [string, ...string[]])[] = [
  ['2290197000001', '22997000001'],
  ['2290120211234', '22920211234'],
  ['2250707080910', '22507080910'],
  ['2250544556677', '22544556677'],
  ['2250140506070', '22540506070'],
  ['2252720212223', '22520212223'],
  ['2252521001122', '22521001122'],
  ['2252120812223', '22520812223'],
  ['24177123456', '24107123456'],
  ['24162123456', '24102123456'],
  ['24174123456', '24104123456'],
  ['24111701234', '24101701234'],
  ['237670123456', '23770123456'],
  ['525512345678', '5215512345678'],
  ['5491123456789', '541123456789', '54111523456789'],
  ['5493512345678', '543512345678', '54351152345678'],
  ['5492966123456', '542966123456', '54296615123456'],
  ['5511987654321', '551187654321'],
  ['5531996543210', '553196543210'],
];

describe('spellings', () => {
  test.each(PHONES)('%s is the same phone as %s', (today, ...others) => {
    for (const number of [today, ...others]) {
      expect(phoneOf(number)).toBe(today);
      expect(spellingsOf(number)[0]).toBe(today);
      expect(spellingsOf(number)).toEqual(expect.arrayContaining([today, ...others]));
    }
  });

  test.each([
    ['22670000001', 'Burkina Faso'],
    ['33612345678', 'France'],
    ['22921', 'too short for Benin'],
    ['22981123456', 'a special number of Benin'],
    ['2250701020304', "a number that Côte d'Ivoire gave out after its change: 01020304 belonged to another operator"],
    ['551133334444', 'a Brazilian landline'],
    ['5511933334444', 'a Brazilian mobile number whose last eight digits are a landline'],
    ['524412', 'too short for Mexico'],
    ['237222123456', 'a landline of Cameroon'],
    ['12125550123', 'North America'],
    ['', 'nothing'],
  ])('%j has one spelling: %s', (number) => {
    expect(spellingsOf(number)).toEqual([number]);
    expect(phoneOf(number)).toBe(number);
  });

  test('all numbers of one phone lead to the same phone, which is one of its spellings', () => {
    const number = fc
      .tuple(fc.constantFrom('229', '225', '241', '237', '52', '54', '55', '226'), fc.stringMatching(/^[0-9]{7,11}$/))
      .map(([code, digits]) => code + digits);
    let several = 0;
    fc.assert(
      fc.property(number, (each) => {
        const spellings = spellingsOf(each);
        expect(spellings).toContain(each);
        expect(spellings.every(isPhoneNumber)).toBe(true);
        for (const spelling of spellings) expect(phoneOf(spelling)).toBe(phoneOf(each));
        if (spellings.length > 1) several++;
      }),
      { numRuns: 3000 },
    );
    expect(several).toBeGreaterThan(100);
  });
});
