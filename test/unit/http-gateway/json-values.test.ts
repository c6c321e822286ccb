import { describe, expect, test } from '@jest/globals';
import { parseJson, readJson, textOf, valueAt } from '../../../src/transports/http/json-values.js';

describe('numbers in JSON keep their digits', () => {
  test.each([
    ['9308878062554710043', '9308878062554710043'],
    ['-9308878062554710043', '-9308878062554710043'],
    ['18446744073709551615', '18446744073709551615'],
    ['9007199254740993', '9007199254740993'],
    ['9007199254740991', '9007199254740991'],
    ['340282366920938463463374607431768211455', '340282366920938463463374607431768211455'],
    ['9.308878062554710043e18', '9308878062554710043'],
    ['9308878062554710043E0', '9308878062554710043'],
    ['930887806255471004300e-2', '9308878062554710043'],
    ['9308878062554710043.0', '9308878062554710043'],
    ['1e+21', '1000000000000000000000'],
    ['1E3', '1000'],
    ['12', '12'],
    ['12.0', '12'],
    ['1.5', '1.5'],
    ['0', '0'],
    ['-0', '0'],
    ['0.0e5', '0'],
  ])('%s', (written, text) => {
    for (const [document, ...path] of [
      [`{"id":${written}}`, 'id'],
      [`{ "id" :\r\n\t${written} }`, 'id'],
      [`{"messages":[{"a":1},{"status":{"ids":[7,${written}]}}]}`, 'messages', 1, 'status', 'ids', 1],
      [`{"before":"\\"9308878062554710044,","id":${written},"after":"\\\\"}`, 'id'],
    ] as const) {
      expect(textOf(valueAt(readJson(document), ...path))).toBe(text);
    }
  });

  test('what is no number stays as it is', () => {
    const texts = {
      '9308878062554710043': 1,
      text: '"id":9308878062554710043, \\" 1e30',
      empty: '',
      escaped: '\u0001\\',
    };
    const document = JSON.stringify({ ...texts, list: [true, false, null, {}] });
    expect(readJson(document)).toEqual(JSON.parse(document));
  });

  test('a number that is too long for an id is as JavaScript reads it', () => {
    expect(readJson('[1e400, 1e-400, 1e99999999999999999999, 0.12345678901234567890]')).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      Number.POSITIVE_INFINITY,
      0.12345678901234568,
    ]);
    expect(textOf(valueAt(readJson('{"id":1e400}'), 'id'))).toBeUndefined();
  });

  test('an invalid document is refused as before', () => {
    for (const text of [
      '',
      '{"id":09308878062554710043}',
      '{"id":9308878062554710043',
      '9308878062554710043x',
      "{'a':1}",
    ]) {
      expect(() => readJson(text)).toThrow(SyntaxError);
      expect(parseJson(text)).toBeUndefined();
    }
    expect(parseJson(undefined)).toBeUndefined();
  });
});
