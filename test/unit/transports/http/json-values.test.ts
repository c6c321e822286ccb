import { describe, expect, test } from '@jest/globals';
import { parseJson, readJson, textOf, valueAt } from '../../../../src/transports/http/json-values.js';

describe('JSON is read despite the mistakes of a gateway that fills in a template', () => {
  test.each([
    ['a line end in a text', '{"id":"7","text":"STOP\nmerci"}', { id: '7', text: 'STOP\nmerci' }],
    ['CRLF and a tab', '{"text":"a\r\n\tb"}', { text: 'a\r\n\tb' }],
    ['another control character', '{"text":"a\u0001b\u001b"}', { text: 'a\u0001b\u001b' }],
    ['an escaped apostrophe', '{"text":"D\\\'accord"}', { text: "D'accord" }],
    ['a wrong escape', '{"text":"C:\\dir\\u12"}', { text: 'C:\\dir\\u12' }],
    ['single quotes', `{'id': '7', 'text': 'say "d\\'accord"'}`, { id: '7', text: 'say "d\'accord"' }],
    ['an apostrophe in a text', `{"text":"d'accord","b":'1'}`, { text: "d'accord", b: '1' }],
    ['commas at the end', '{"ids":["1","2", ],"text":",]",}', { ids: ['1', '2'], text: ',]' }],
    ['no numbers', '{"id":"7","price":NaN,"b":-Infinity,"c":"NaN"}', { id: '7', price: null, b: null, c: 'NaN' }],
    [
      'words of Python',
      "{'ok': True, 'no': False, 'x': None, 't': 'None'}",
      { ok: true, no: false, x: null, t: 'None' },
    ],
    ['NUL at the end', '{"id":"7"}\0', { id: '7' }],
    ['a call around it', ' cb.x({"id":"f(7);"}) ;\n', { id: 'f(7);' }],
    ['a long number as well', '{"id":9308878062554710043,"text":"a\nb"}', { id: '9308878062554710043', text: 'a\nb' }],
    ['keys twice, of which the last counts', '{"id":"1","id":"2"}', { id: '2' }],
  ])('%s', (_, document, json) => {
    expect(readJson(document)).toEqual(json);
    expect(parseJson(document)).toEqual(json);
  });

  test('in a time that grows only with its length', () => {
    for (const piece of ['"\\', '\\"', "'", '"\'', ',', '[', '\\u', ')', ');', '-NaN']) {
      expect(parseJson(`"${piece.repeat(300_000)}`)).toBeUndefined();
    }
  });
});

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

  test('values that are not numbers stay unchanged', () => {
    const texts = {
      '9308878062554710043': 1,
      text: '"id":9308878062554710043, \\" 1e30',
      empty: '',
      escaped: '\u0001\\',
    };
    const document = JSON.stringify({ ...texts, list: [true, false, null, {}] });
    expect(readJson(document)).toEqual(JSON.parse(document));
  });

  test('a number that is too long for an id is read as JavaScript reads it', () => {
    expect(readJson('[1e400, 1e-400, 1e99999999999999999999, 0.12345678901234567890]')).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      Number.POSITIVE_INFINITY,
      0.12345678901234568,
    ]);
    expect(textOf(valueAt(readJson('{"id":1e400}'), 'id'))).toBeUndefined();
  });

  test('an invalid document is still refused', () => {
    for (const text of [
      '',
      '{"id":09308878062554710043}',
      '{"id":9308878062554710043',
      '9308878062554710043x',
      "{'a':1",
      '{"a":"1}',
      '{"a":1}}',
      '{a:1}',
      '{"a":"1" "b":2}',
      'f({"a":1}',
      "it's",
    ]) {
      expect(() => readJson(text)).toThrow(SyntaxError);
      expect(parseJson(text)).toBeUndefined();
    }
    expect(parseJson(undefined)).toBeUndefined();
  });
});
