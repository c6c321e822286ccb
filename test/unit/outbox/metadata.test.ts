import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MessagingError } from '../../../src/common/errors.js';
import { hasMetadata, metadataOf } from '../../../src/outbox/metadata.js';

const of = (count: number, value = 'x') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]));
const wrong = (code: string, field?: string) => expect.objectContaining(field ? { code, values: { field } } : { code });
const TOO_LARGE = wrong('error.metadata_too_large');
const own = (key: string, value: unknown) => Object.defineProperty({}, key, { value, enumerable: true });

/** The error that a call throws. */
function thrown(call: () => unknown): unknown {
  try {
    return { returned: call() };
  } catch (error) {
    return error;
  }
}

test.each<[string, object]>([
  ['nothing', {}],
  ['16 keys', of(16)],
  ['512 characters', { [`${'k'.repeat(12)}`]: 'v'.repeat(500) }],
  ['512 characters outside the basic plane, which are 1024 units of UTF-16', { '🌍': '🌍'.repeat(511) }],
  ['empty keys and values', { '': '' }],
  ['property names that every object has', { constructor: 'a', toString: 'b', valueOf: 'c' }],
  ['an object without a prototype', Object.assign(Object.create(null), { order: '4711' })],
])('accepts %s', (_name, given) => {
  expect(metadataOf(given)).toEqual({ ...given });
});

test.each([undefined, null])('treats %p as no metadata', (given) => {
  expect(metadataOf(given)).toBeUndefined();
});

test.each<[string, unknown, unknown]>([
  ['a text', 'order=4711', wrong('error.field_not_object', 'metadata')],
  ['a number', 4711, wrong('error.field_not_object', 'metadata')],
  ['true', true, wrong('error.field_not_object', 'metadata')],
  ['a list', ['a'], wrong('error.field_not_object', 'metadata')],
  ['an empty list', [], wrong('error.field_not_object', 'metadata')],
  ['a Map, whose entries would be lost', new Map([['a', 'b']]), wrong('error.field_not_object', 'metadata')],
  ['a Date', new Date(0), wrong('error.field_not_object', 'metadata')],
  ['a function', () => ({}), wrong('error.field_not_object', 'metadata')],
  ['17 keys', of(17), TOO_LARGE],
  ['300 000 keys', of(300_000), TOO_LARGE],
  ['513 characters', { [`${'k'.repeat(13)}`]: 'v'.repeat(500) }, TOO_LARGE],
  ['513 characters outside the basic plane', { '🌍': '🌍'.repeat(512) }, TOO_LARGE],
  ['a value of 50 MB', { a: 'v'.repeat(52_000_000) }, TOO_LARGE],
  ['a key of 50 MB', { ['k'.repeat(52_000_000)]: 'v' }, TOO_LARGE],
  ['a number in it', { order: 4711 }, wrong('error.field_not_string', 'metadata.order')],
  ['null in it', { order: null }, wrong('error.field_not_string', 'metadata.order')],
  ['undefined in it', { order: undefined }, wrong('error.field_not_string', 'metadata.order')],
  ['a list in it', { order: ['4711'] }, wrong('error.field_not_string', 'metadata.order')],
  ['an object in it', { order: { id: '4711' } }, wrong('error.field_not_string', 'metadata.order')],
  ['a String object in it', { order: new String('4711') }, wrong('error.field_not_string', 'metadata.order')],
  ['NUL in a value', { order: 'a\0' }, wrong('error.field_invalid', 'metadata.order')],
  ['a lone surrogate in a value', { order: '\ud83c' }, wrong('error.field_invalid', 'metadata.order')],
  ['a lone surrogate in a key', { '\udf0d': 'x' }, wrong('error.field_invalid', 'metadata.\udf0d')],
  ['a surrogate pair torn between key and value', { '\ud83c': '\udf0d' }, wrong('error.field_invalid')],
  ['__proto__ from JSON', JSON.parse('{"__proto__":"x"}'), wrong('error.field_invalid', 'metadata.__proto__')],
  ['__proto__ with an object', own('__proto__', { a: 'b' }), wrong('error.field_invalid', 'metadata.__proto__')],
])('refuses %s', (_name, given, expected) => {
  const error = thrown(() => metadataOf(given));
  expect(error).toBeInstanceOf(MessagingError);
  expect(error).toEqual(expected);
});

test('a copy is kept, so later changes by the caller do not reach it', () => {
  const given = { order: '4711' };
  const kept = metadataOf(given);
  given.order = '0';
  expect(kept).toEqual({ order: '4711' });
});

test('any value is refused with a code, or comes back from JSON unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(fc.string({ unit: 'binary' }), fc.string())), (given) => {
      let taken: unknown;
      try {
        taken = metadataOf(given);
      } catch (error) {
        expect(error).toBeInstanceOf(MessagingError);
        return;
      }
      if (given === null) expect(taken).toBeUndefined();
      else expect(JSON.stringify(taken)).toBe(JSON.stringify(given));
    }),
  );
});

describe('a filter', () => {
  test.each<[object | undefined, object, boolean]>([
    [{ a: '1', b: '2' }, { a: '1' }, true],
    [{ a: '1', b: '2' }, { b: '2', a: '1' }, true],
    [{ a: '1' }, { a: '1', b: '2' }, false],
    [{ a: '1' }, { a: '' }, false],
    [{ a: '1' }, { A: '1' }, false],
    [{}, { toString: String(Object.prototype.toString) }, false],
    [undefined, { a: '1' }, false],
    [undefined, {}, true],
  ])('%p matches %p: %p', (stored, wanted, expected) => {
    expect(hasMetadata(stored && metadataOf(stored), metadataOf(wanted) ?? {})).toBe(expected);
  });
});
