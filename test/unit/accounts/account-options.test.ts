import { describe, expect, test } from '@jest/globals';
import { type AccountOptions, resolveAccountSettings } from '../../../src/accounts/account-options.js';
import { deprecationHeaders } from '../../../src/accounts/keys/authentication-headers.js';
import { MessagingOptionsError } from '../../../src/common/errors.js';
import { en } from '../../../src/common/text/catalogue.en.js';
import { fr } from '../../../src/common/text/catalogue.fr.js';

const signatures = ['INFOS', 'ALERTE', 'SERVICE'];
const resolve = (legacyBearer?: AccountOptions['legacyBearer']) => resolveAccountSettings({ signatures, legacyBearer });
const error = (sentence: RegExp) =>
  expect.objectContaining({ name: 'MessagingOptionsError', message: expect.stringMatching(sentence) });

function thrownBy(run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(MessagingOptionsError);
    return thrown;
  }
}

describe('resolveAccountSettings', () => {
  test('fills in the defaults', () => {
    const settings = {
      signatures,
      legacyBearer: { deprecatedAt: Date.parse('2026-11-21T00:00:00Z'), sunset: undefined, link: undefined },
      catalogue: fr,
    };
    expect(resolve()).toEqual(settings);
    expect(resolve(true)).toEqual(settings);
    expect(resolve({})).toEqual(settings);
    expect(resolve(false)).toEqual({ ...settings, legacyBearer: false });
    expect(resolveAccountSettings({ signatures }, en).catalogue).toBe(en);
  });

  test.each([[['A']], [['A', 'B']], [['A', 'B', 'C', 'D']]])('accepts %j as signatures', (names) => {
    expect(resolveAccountSettings({ signatures: names }).signatures).toEqual(names);
  });

  test.each([[[]], [undefined], ['ABC'], [['A', 'A']], [['A', 'B', 'A']]])('refuses %j as signatures', (names) => {
    const options: AccountOptions = JSON.parse(JSON.stringify({ signatures: names }));
    expect(thrownBy(() => resolveAccountSettings(options))).toEqual(error(/option signatures/));
  });

  test.each(['', 'TOO LONG A NAME', 'Été', 12345])('refuses %j among the signatures', (name) => {
    const options: AccountOptions = JSON.parse(JSON.stringify({ signatures: ['A', 'B', name] }));
    expect(thrownBy(() => resolveAccountSettings(options))).toEqual(error(/option signatures holds/));
  });

  test('refuses dates and links that are not valid', () => {
    const broken = new Date('tomorrow');
    expect(thrownBy(() => resolve({ deprecatedAt: broken }))).toEqual(error(/legacyBearer\.deprecatedAt/));
    expect(thrownBy(() => resolve({ sunset: broken }))).toEqual(error(/legacyBearer\.sunset/));
    for (const link of ['', 'docs', '/docs', 'javascript:alert(1)', 'https://']) {
      expect(thrownBy(() => resolve({ link }))).toEqual(error(/legacyBearer\.link/));
    }
    expect(thrownBy(() => resolve(JSON.parse('"yes"')))).toEqual(error(/option legacyBearer/));
    expect(thrownBy(() => resolve(JSON.parse('null')))).toEqual(error(/option legacyBearer/));
  });

  test('refuses a sunset before the deprecation', () => {
    const sunset = new Date('2026-11-20T23:59:59Z');
    expect(thrownBy(() => resolve({ sunset }))).toEqual(error(/sunset must not be earlier/));
    expect(resolve({ sunset, deprecatedAt: sunset }).legacyBearer).toMatchObject({ sunset: sunset.getTime() });
  });
});

describe('deprecationHeaders', () => {
  test('gives the date since when, and omits what is not configured', () => {
    expect(deprecationHeaders(resolve())).toEqual({ Deprecation: '@1795219200' });
    expect(deprecationHeaders(resolve(false))).toEqual({});
  });

  test('gives the date until when, and where to read more', () => {
    const settings = resolve({
      deprecatedAt: new Date('2023-06-30T23:59:59.999Z'),
      sunset: new Date('2027-05-01T08:00:00Z'),
      link: 'https://example.com/a>b',
    });
    expect(deprecationHeaders(settings)).toEqual({
      Deprecation: '@1688169599',
      Sunset: 'Sat, 01 May 2027 08:00:00 GMT',
      Link: '<https://example.com/a%3Eb>; rel="deprecation"',
    });
  });

  test('a link cannot end its own brackets or the header', () => {
    const settings = resolve({ link: 'https://example.com/?q=>"<\r\nX: y' });
    expect(deprecationHeaders(settings).Link).toMatch(/^<[^<>\s]*>; rel="deprecation"$/);
  });
});
