import { expect, test } from '@jest/globals';
import { carrierKey, carrierText } from '../../../src/sms/receipts/carrier-text.js';

test.each(['', '33E95179', 'id with blanks', "0e999f21-'\\-%_", 'x'.repeat(128)])('keeps an id unchanged: %j', (id) => {
  expect(carrierKey(id)).toBe(id);
});

test.each(['x'.repeat(129), 'é', 'a\u0000b', 'a\ud800', 'tab\tin', '😀'])(
  'replaces an id by a name that any database can store: %j',
  (id) => {
    expect(carrierKey(id)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(carrierKey(id)).toBe(carrierKey(id));
    expect(carrierKey(`${id}x`)).not.toBe(carrierKey(id));
  },
);

test.each([
  [' 7F', '7F'],
  ['7F \r\n', '7F'],
  ['7F\u0000', '7F'],
  ['\u0000\u0000', ''],
  ['\ufeff7F\u00a0\t', '7F'],
  ['\n', ''],
  ['a  b', 'a  b'],
  [`${'x'.repeat(128)}\n`, 'x'.repeat(128)],
])('trims what surrounds an id: %j', (given, id) => {
  expect(carrierKey(given)).toBe(id);
});

test('changes the words of a carrier only as far as they cannot be stored', () => {
  expect(carrierText('ESME_RTHROTTLED: é 😀')).toBe('ESME_RTHROTTLED: é 😀');
  expect(carrierText('a\u0000b\nc\ud83d')).toBe('a\ufffdb\ufffdc\ufffd');
  expect(carrierText('x'.repeat(300))).toHaveLength(200);
  expect(carrierText(`${'x'.repeat(199)}😀`)).toBe(`${'x'.repeat(199)}\ufffd`);
});
