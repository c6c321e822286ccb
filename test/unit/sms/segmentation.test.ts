import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeGsm7, encodeUcs2, measure, notGsm7, split, unsendable } from '../../../src/sms/segmentation.js';
import { transliteratePunctuation } from '../../../src/sms/transliteration.js';
import {
  concatenationHeader,
  GSM7_ALPHABET,
  packGsm7,
  packUcs2,
  readGsm7,
  readUcs2,
  USER_DATA_OCTETS,
  unpackGsm7,
} from '../../support/transports/gsm7-packing.js';
import { vectors } from './segmentation-vectors.js';

const splitSms: { split(text: string): { characterSet: string; parts: { content: string }[] } } = createRequire(
  import.meta.url,
)('split-sms');

/** The text that arrives if the parts are packed for the air and unpacked again. Throws if one does not fit an SMS. */
function overTheAir(text: string): string {
  const { encoding, parts } = split(text);
  return parts
    .map((part, index) => {
      const header = parts.length === 1 ? undefined : concatenationHeader(parts.length, index + 1);
      const data = encoding === 'GSM-7' ? packGsm7(encodeGsm7(part), header) : packUcs2(encodeUcs2(part), header);
      if (data.octets.length > USER_DATA_OCTETS) throw new Error(`part ${index} has ${data.octets.length} octets`);
      return encoding === 'GSM-7' ? readGsm7(unpackGsm7(data)) : readUcs2(data);
    })
    .join('');
}

/** The smallest number of parts of at most `capacity` for things of these sizes in order. Tries every way to cut. */
function fewestParts(sizes: readonly number[], capacity: number): number {
  const fewest = [0];
  for (let end = 1; end <= sizes.length; end++) {
    let best = Number.POSITIVE_INFINITY;
    let used = 0;
    for (let start = end - 1; start >= 0; start--) {
      used += sizes[start] ?? 0;
      if (used > capacity) break;
      best = Math.min(best, (fewest[start] ?? 0) + 1);
    }
    fewest.push(best);
  }
  return fewest.at(-1) ?? 0;
}

const gsm7Character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...GSM7_ALPHABET.keys()) },
  { weight: 2, arbitrary: fc.constantFrom('€', ']', '\f') },
);
const gsm7Text = fc.string({ unit: gsm7Character, maxLength: 700 });
const ucs2Text = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('я', '😀', 'a', '€', '👩🏽‍🚀', 'ê'), maxLength: 400 }),
    fc.constantFrom('ж', '😀'),
  )
  .map(([text, last]) => text + last);
/** Long runs between two-unit characters, at which part boundaries are met and missed by one. */
const straddling = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 155 }), fc.constantFrom('€', '😀', 'я')), { minLength: 1, maxLength: 6 })
  .map((runs) => runs.map(([length, mark]) => 'a'.repeat(length) + mark).join(''));
const anyText = fc.oneof(gsm7Text, ucs2Text, straddling, fc.string({ unit: 'binary', maxLength: 400 }));

describe('measure and split', () => {
  test.each(vectors)('$name', ({ text, encoding, segments, characters, codeUnits }) => {
    const measured = measure(text);
    expect(JSON.parse(JSON.stringify(measured))).toEqual({ encoding, segments, characters, codeUnits });
    expect(measured.characters).toBe(characters);

    const { parts } = split(text);
    expect(parts.join('')).toBe(text);
    expect({ encoding: split(text).encoding, parts: parts.length }).toEqual({ encoding, parts: segments });
    expect(overTheAir(text)).toBe(text);
  });

  test('does not show the text when a measurement is logged', () => {
    expect(Object.keys(measure('secret'))).toEqual(['encoding', 'segments', 'codeUnits']);
  });

  test('makes parts that fit, that join to the text again, and that are as many as were counted', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { encoding, parts } = split(text);
        const measured = measure(text);
        expect(encoding).toBe(measured.encoding);
        expect(parts).toHaveLength(measured.segments);
        expect(overTheAir(text)).toBe(text);
        expect(measured.characters).toBe([...text].length);
      }),
      { numRuns: 300 },
    );
  });

  test('takes no more GSM-7 parts than the best way to cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '€'), minLength: 161, maxLength: 500 }), (text) => {
        const sizes = [...text].map((character) => (character === '€' ? 2 : 1));
        expect(measure(text).segments).toBe(fewestParts(sizes, 153));
      }),
    );
  });

  test('takes no more UCS-2 parts than the best way to cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('я', '😀'), minLength: 71, maxLength: 400 }), (text) => {
        const sizes = [...text].map((character) => character.length);
        expect(measure(text).segments).toBe(fewestParts(sizes, 67));
      }),
    );
  });

  test('agrees with split-sms, a library that counts correctly', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const theirs = splitSms.split(text);
        expect(measure(text).encoding).toBe(theirs.characterSet === 'GSM' ? 'GSM-7' : 'UCS-2');
        expect(split(text).parts).toEqual(theirs.parts.map((part) => part.content));
      }),
      { numRuns: 300 },
    );
  });

  test('counts a lone surrogate as one character, separate from its neighbour', () => {
    const text = `${'я'.repeat(66)}\ud83dя${'я'.repeat(66)}`;
    expect(measure(text)).toMatchObject({ segments: 2, codeUnits: 134 });
    expect(measure(text).characters).toBe(134);
    expect(split(text).parts.map((part) => part.length)).toEqual([67, 67]);
  });
});

describe('the alphabet', () => {
  test('is the one of the standard, septet by septet', () => {
    expect(GSM7_ALPHABET.size).toBe(127 + 10);
    for (const [character, septets] of GSM7_ALPHABET) expect([...encodeGsm7(character)]).toEqual(septets);
  });

  test('has no other character', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const character = String.fromCharCode(unit);
      const inAlphabet = measure(character).encoding === 'GSM-7';
      if (inAlphabet !== GSM7_ALPHABET.has(character)) throw new Error(`U+${unit.toString(16)}`);
    }
  });

  test('names each character outside it once, in the order of appearance', () => {
    expect(notGsm7('La fête, ça commence à 😀 dès ce soir ’ê😀')).toEqual(['ê', 'ç', '😀', '’']);
    expect(notGsm7('Déjà payé : 12 €')).toEqual([]);
  });

  test.each([
    ['é', [0x05]],
    ['a€', [0x61, 0x1b, 0x65]],
    ['', []],
  ])('encodes %j unpacked', (text, septets) => {
    expect([...encodeGsm7(text)]).toEqual(septets);
  });

  test.each([
    ['ê', 'U+00EA'],
    ['ok 😀', 'U+1F600'],
    ['\u001b', 'U+001B'],
    ['\0', 'U+0000'],
  ])('refuses to encode %j as GSM-7', (text, named) => {
    expect(() => encodeGsm7(text)).toThrow(new RangeError(`${named} is not in the GSM-7 alphabet`));
  });

  test('encodes UCS-2 as UTF-16, big-endian', () => {
    expect([...encodeUcs2('aя😀')]).toEqual([0x00, 0x61, 0x04, 0x4f, 0xd8, 0x3d, 0xde, 0x00]);
  });

  test.each(['\ud83d', 'a\ude00', '😀\ud83d', '\ude00\ud83d'])('refuses to encode %j as UCS-2', (text) => {
    expect(() => encodeUcs2(text)).toThrow(RangeError);
  });
});

describe('unsendable', () => {
  test.each([
    ['NUL', 'a\0b', 'U+0000'],
    ['ESC', 'a\u001be', 'U+001B'],
    ['a high surrogate at the end', 'a\ud83d', 'U+D83D'],
    ['a high surrogate before a character', '\ud83da', 'U+D83D'],
    ['a low surrogate first', '\ude00\ud83d', 'U+DE00'],
    ['a low surrogate after a pair', '😀\ude00', 'U+DE00'],
    ['two high surrogates', '\ud83d😀', 'U+D83D'],
    ['the first of several', '😀\u001b\0', 'U+001B'],
  ])('names %s', (_, text, named) => {
    expect(unsendable(text)).toBe(named);
    expect(measure(text).encoding).toBe('UCS-2');
  });

  test('finds nothing in other texts', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const expected = [...text].find((character) => character === '\0' || character === '\u001b');
        expect(unsendable(text) === undefined).toBe(expected === undefined);
      }),
    );
  });
});

describe('transliteratePunctuation', () => {
  test.each([
    ['curly quotes', '‘l’été’ “ici” „là‟', '\'l\'été\' "ici" "là"'],
    ['guillemets with their spaces', '«\u00a0Bonjour\u202f»', '" Bonjour "'],
    ['dashes', 'a–b—c−d‐e‑f', 'a-b-c-d-e-f'],
    ['an ellipsis', 'Attendez…', 'Attendez...'],
    ['each exotic space with one', 'a\u2003b\u3000c\td', 'a b c d'],
    ['characters without width', 'a\u200bb\ufeffc\u00add\u2060e\u200df', 'abcdef'],
    ['decomposed letters of the alphabet', 'e\u0301te\u0301 man\u0303ana', 'été mañana'],
    ['compatibility letters', '\u2126 \u212b', 'Ω Å'],
    ['line separators', 'a\u2028b\u2029c', 'a\nb\nc'],
    ['a backtick', '`x`', "'x'"],
  ])('makes %s plain', (_, text, plain) => {
    expect(transliteratePunctuation(text)).toBe(plain);
  });

  test.each(['fête – demain', 'fe\u0302te…', '“Привет”', 'ok 👍…', 'a\u001b’', '\ud83d’'])(
    'leaves %j unchanged, because it would not become GSM-7',
    (text) => {
      expect(transliteratePunctuation(text)).toBe(text);
    },
  );

  test('returns GSM-7 or the text itself, and leaves GSM-7 unchanged', () => {
    const punctuated = fc.string({ unit: fc.constantFrom(...'a é€’“…–\u00a0\u200be\u0301\u0302я'), maxLength: 20 });
    fc.assert(
      fc.property(fc.oneof(punctuated, anyText), (text) => {
        const result = transliteratePunctuation(text);
        if (measure(text).encoding === 'GSM-7' || measure(result).encoding === 'UCS-2') expect(result).toBe(text);
        expect(transliteratePunctuation(result)).toBe(result);
      }),
    );
  });
});
