import { describe, expect, test } from '@jest/globals';
import { InboundDestinations } from '../../../src/sms/inbound/inbound-destinations.js';

const GIVEN = new Map([
  ['36111', ['INFOS']],
  ['22670990000', ['SHOP', 'CLUB']],
  ['22997000001', ['BENIN']],
  ['70990009', ['NATIONAL']],
]);

describe('the signatures that a text concerns, by its destination', () => {
  const at = (home: string | undefined) => new InboundDestinations(GIVEN, home);

  test.each([
    ['36111', 'INFOS'],
    ['+36111', 'INFOS'],
    ['36 111', 'INFOS'],
    ['٣٦١١١', 'INFOS'],
    ['22670990000', 'SHOP CLUB'],
    ['+22670990000', 'SHOP CLUB'],
    ['0022670990000', 'SHOP CLUB'],
    ['+226 70 99 00 00', 'SHOP CLUB'],
    ['tel:+226-70-99-00-00', 'SHOP CLUB'],
    ['\u202a+22670990000\u202c', 'SHOP CLUB'],
    ['70990000', 'SHOP CLUB'],
    ['70 99 00 00', 'SHOP CLUB'],
    ['2290197000001', 'BENIN'],
    ['22997000001', 'BENIN'],
    ['70990009', 'NATIONAL'],
    ['22670990009', 'NATIONAL'],
  ])('%j in the home market BF concerns %s', (to, signatures) => {
    expect(at('BF').signaturesOf(to).join(' ')).toBe(signatures);
  });

  test('are found in no spelling of another number', () => {
    const others = ['22670990001', '36112', '3611', '136111', 'INFOS', '33625000000', ''];
    for (const to of others) expect(at('BF').signaturesOf(to)[0]).toBe(to);
  });

  test('without a home market, a national number is only its own destination', () => {
    expect(at(undefined).signaturesOf('70990000')).toEqual(['70990000']);
    expect(at(undefined).signaturesOf('0022670990000')).toEqual(['SHOP', 'CLUB']);
  });

  test('without an entry, the destination is the signature, as it came and in its plain spelling', () => {
    expect(at('BF').signaturesOf('0022670000001')).toEqual(['0022670000001', '22670000001']);
    expect(at('BF').signaturesOf('36 222')).toEqual(['36 222', '36222']);
    expect(at('BF').signaturesOf('Café Bio')).toEqual(['Café Bio']);
  });
});
