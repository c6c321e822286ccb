import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { PersonalText, type Variables } from '../../../src/common/text/personal-text.js';

function read(text: string): PersonalText {
  const read = PersonalText.parse(text);
  if (!(read instanceof PersonalText)) throw new Error(`a stray brace at ${read.position}`);
  return read;
}

function complete(text: string, values: Variables = {}): string {
  return read(text).complete(values);
}

describe('personal text', () => {
  test.each([
    ['Bonjour {name}', { name: 'Awa' }, 'Bonjour Awa'],
    ['{a}{b}{a}', { a: '1', b: '2' }, '121'],
    ['no variable', {}, 'no variable'],
    ['', {}, ''],
    ['{{name}}', { name: 'Awa' }, '{name}'],
    ['{{{name}}}', { name: 'Awa' }, '{Awa}'],
    ['{{}}', {}, '{}'],
    ['{name}}}', { name: 'Awa' }, 'Awa}'],
    ['{_}{A9_z}', { _: 'x', A9_z: 'y' }, 'xy'],
    ['é{name}😀', { name: '😀' }, 'é😀😀'],
    [`{${'n'.repeat(32)}}`, { ['n'.repeat(32)]: 'x' }, 'x'],
  ])('%j is completed', (text, values: Variables, completed) => {
    expect(complete(text, values)).toBe(completed);
  });

  test.each([
    ['{', 1],
    ['}', 1],
    ['Bonjour { name }', 9],
    ['Bonjour {prénom}', 9],
    ['{1x}', 1],
    ['{}', 1],
    ['{a-b}', 1],
    ['{{name}', 7],
    ['{name}}', 7],
    ['{{{', 3],
    ['{a{b}}', 1],
    ['😀{', 2],
    [`{${'n'.repeat(33)}}`, 1],
  ])('%j has a stray brace', (text, position) => {
    expect(PersonalText.parse(text)).toEqual({ position });
  });

  test('braces in a value are not read again', () => {
    const values = { x: '{y} {{ }} { {x}', y: 'secret' };
    expect(complete('{x}', values)).toBe(values.x);
    expect(complete('{x}{y}', { x: '{', y: 'x}' })).toBe('{x}');
  });

  test('a value has no meaning for a replacement', () => {
    expect(complete('<{x}>', { x: '$& $1 $`' })).toBe('<$& $1 $`>');
  });

  test('the variables are listed once, in order of appearance', () => {
    expect(read('{b} {a} {{c}} {b}').variables).toEqual(['b', 'a']);
  });

  test('names of properties that every object has are variables like others', () => {
    const text = read('{constructor}{__proto__}{toString}');
    expect(text.missingIn({})).toBe('constructor');
    const values: Variables = JSON.parse('{"constructor":"a","__proto__":"b","toString":"c"}');
    expect(text.missingIn(values)).toBeUndefined();
    expect(text.complete(values)).toBe('abc');
    expect(JSON.stringify(text.usedOf(values))).toBe('{"constructor":"a","__proto__":"b","toString":"c"}');
  });

  test('only used values are kept', () => {
    expect(read('{a}').usedOf({ a: '1', b: '2' })).toEqual({ a: '1' });
  });

  test('every text of literals and variables is read as it was written', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,31}$/);
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }).map((literal) => ({ literal })),
      name.map((name) => ({ name })),
    );
    fc.assert(
      fc.property(fc.array(piece), fc.string(), (pieces, value) => {
        const written = pieces
          .map((each) =>
            'name' in each ? `{${each.name}}` : each.literal.replaceAll(/[{}]/g, (brace) => brace + brace),
          )
          .join('');
        const names = pieces.flatMap((each) => ('name' in each ? [each.name] : []));
        const values = Object.fromEntries(names.map((each) => [each, each + value]));
        const text = read(written);
        const completed = pieces.map((each) => ('name' in each ? values[each.name] : each.literal)).join('');
        expect(text.complete(values)).toBe(completed);
        expect(text.variables).toEqual([...new Set(names)]);
        expect(text.missingIn(values)).toBeUndefined();
      }),
    );
  });

  test('any text is either completed or has a brace at the named place', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', '1', 'é', '😀') }), (text) => {
        const read = PersonalText.parse(text);
        if (read instanceof PersonalText) expect(read.complete({}).length).toBeLessThanOrEqual(text.length);
        else expect('{}').toContain([...text][read.position - 1]);
      }),
    );
  });
});
