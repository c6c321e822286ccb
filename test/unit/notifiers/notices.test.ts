import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noticesOf, partOf, payloadOf } from '../../../src/notifiers/notices.js';

test('a payload that was written can be read', () => {
  const parts = [
    partOf('due', 'sms'),
    partOf('key', 'A1b2C3d4E5f6'),
    partOf('opt-out', '*'),
    partOf('signature', 'a:b'),
  ];
  expect(
    noticesOf(
      payloadOf(
        'process-1',
        parts.flatMap((part) => part ?? []),
      ),
    ),
  ).toEqual({
    from: 'process-1',
    notices: [
      ['due', 'sms'],
      ['key', 'A1b2C3d4E5f6'],
      ['opt-out', '*'],
      ['signature', 'a:b'],
    ],
  });
  expect(noticesOf(payloadOf('process-1', []))).toEqual({ from: 'process-1', notices: [] });
});

test('a notice with an id that cannot be ours is sent to nobody', () => {
  for (const id of ['', 'two words', 'line\nbreak', 'é', 'x'.repeat(65)]) expect(partOf('key', id)).toBeUndefined();
});

test('notices with topics of a later version are left out', () => {
  expect(noticesOf('1 p later:x key:y')).toEqual({ from: 'p', notices: [['key', 'y']] });
});

test.each([
  ['no text', 5],
  ['nothing', undefined],
  ['empty', ''],
  ['another format', '2 p key:x'],
  ['JSON', '{"from":"p"}'],
  ['no sender', '1  key:x'],
  ['a notice without a topic', '1 p :x'],
  ['a notice without an id', '1 p key:'],
  ['two blanks', '1 p key:x  key:y'],
  ['a line break at the end', '1 p key:x\n'],
  ['control characters', '1 p key:x\u0000'],
  ['more than PostgreSQL would carry', `1 p${' key:x'.repeat(2000)}`],
  ['an id that is too long', `1 p key:${'x'.repeat(65)}`],
])('refuses %s', (_, payload) => {
  expect(noticesOf(payload)).toBeUndefined();
});

test('any payload is read or recognised as foreign, in a time that grows only with its length', () => {
  const likely = fc.stringMatching(/^1 [\w-]{0,70}( [a-z:-]{0,20}[ -~]{0,70}){0,5}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string(), likely, fc.string({ unit: 'binary' })), (payload) => {
      const read = noticesOf(payload);
      for (const [topic, id] of read?.notices ?? []) expect(partOf(topic, id)).toBe(`${topic}:${id}`);
    }),
  );
});
