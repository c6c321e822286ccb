import { Readable } from 'node:stream';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { MessagingError } from '../../../src/common/errors.js';
import { JsonStructure } from '../../../src/http/json-structure.js';
import { JsonBody, readBody } from '../../../src/http/request-body.js';

/** The bytes in pieces, cut at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

function read(pieces: readonly Buffer[], most = 1_000_000): unknown {
  const body = new JsonBody(most);
  for (const piece of pieces) body.write(piece);
  return body.end();
}

const codeOf = (attempt: () => unknown): string | undefined => {
  try {
    attempt();
    return undefined;
  } catch (error) {
    return error instanceof MessagingError ? error.code : String(error);
  }
};

describe('a JSON body', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('é€😀', '\\', '"', '\\"', '[{,:', '\u0000', '\ud83d\ude00'),
  );
  const objects = fc.dictionary(texts, fc.oneof(texts, fc.jsonValue(), fc.array(texts)), { maxKeys: 5 });

  test('is read the same way, however many pieces it arrives in', () => {
    const property = fc.property(objects, fc.array(fc.nat(), { maxLength: 12 }), (object, places) => {
      const text = JSON.stringify(object);
      const { ['__proto__']: _, ...rest } = JSON.parse(text);
      expect(read(cut(Buffer.from(text), places))).toEqual(rest);
    });
    fc.assert(property);
  });

  test('has the same count, however many pieces it arrives in, and strings do not count', () => {
    const structure = (value: unknown): number => {
      if (typeof value !== 'object' || value === null) return 0;
      const inside = Object.values(value);
      const commas = Math.max(0, inside.length - 1);
      const colons = Array.isArray(value) ? 0 : inside.length;
      return inside.reduce((sum: number, each) => sum + structure(each), 1 + commas + colons);
    };
    const property = fc.property(objects, fc.array(fc.nat(), { maxLength: 12 }), (object, places) => {
      const text = JSON.stringify(object);
      const count = structure(JSON.parse(text));
      const counter = new JsonStructure(count);
      for (const piece of cut(Buffer.from(text), places)) counter.read(piece);
      expect(counter.count).toBe(count);
      expect(codeOf(() => read(cut(Buffer.from(text), places), count - 1))).toBe('error.request_invalid');
    });
    fc.assert(property);
  });

  test.each(['{},', '[],', '"a":0,', '0,', '{"a":{"b":[1,2]}},'])(
    'of %s over and over is refused before it is parsed',
    (unit) => {
      const parse = jest.spyOn(JSON, 'parse');
      const body = new JsonBody(10_000);
      body.write(Buffer.from(unit.startsWith('"') ? '{' : '{"x":['));
      let written = 0;
      const endless = (): void => {
        for (;;) {
          body.write(Buffer.from(unit));
          written++;
        }
      };
      expect(codeOf(endless)).toBe('error.request_invalid');
      expect(written).toBeLessThanOrEqual(10_000);
      expect(parse).not.toHaveBeenCalled();
      parse.mockRestore();
    },
  );

  test('may nest 1000 levels', () => {
    const nested = (levels: number): Buffer => Buffer.from(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`);
    expect(read([nested(999)])).toHaveProperty('a');
    expect(codeOf(() => read([nested(1000)]))).toBe('error.malformed_json');
    // Closed brackets do not add up, and brackets in a string are text.
    expect(read([Buffer.from(`{"a":[${'[],'.repeat(3000)}0],"b":"${'['.repeat(3000)}"}`)])).toHaveProperty('b');
  });

  test('may have 1000 members in one object, and any number across several objects', () => {
    const members = (count: number, from = 0) =>
      Array.from({ length: count }, (_, index) => `"k${from + index}":{"a":[1,2],"b":":"}`).join();
    expect(Object.keys(read([Buffer.from(`{${members(1000)}}`)]) as object)).toHaveLength(1000);
    const several = Array.from({ length: 20 }, (_, index) => `{${members(1000, index)}}`).join();
    expect(read([Buffer.from(`{"all":[${several}]}`)])).toHaveProperty('all');
    const parse = jest.spyOn(JSON, 'parse');
    for (const text of [`{${members(1001)}}`, `{"metadata":{${members(1001)}}}`, `[{"a":1},{${members(1001)}}]`]) {
      expect(codeOf(() => read([Buffer.from(text)]))).toBe('error.request_invalid');
    }
    // 500 000 names are refused after the first thousand.
    expect(codeOf(() => read([Buffer.from(`{"metadata":{${members(500_000)}}}`)], 10_000_000))).toBe(
      'error.request_invalid',
    );
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  test.each([
    ['a byte that begins no character', [0x7b, 0x80, 0x7d]],
    ['half a character at the end', [0x7b, 0x7d, 0xe2, 0x82]],
    ['an overlong form', [0x7b, 0xc0, 0xaf, 0x7d]],
    ['half of a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a start byte after a start byte', [0x22, 0xf0, 0xf0, 0x9f, 0x98, 0x80, 0x22]],
    ['what is past the last code point', [0x22, 0xf5, 0x80, 0x80, 0x80, 0x22]],
  ])('with %s is malformed, in one piece or in many', (_what, bytes) => {
    const whole = Buffer.from(bytes);
    expect(codeOf(() => read([whole]))).toBe('error.malformed_json');
    expect(codeOf(() => read(bytes.map((byte) => Buffer.from([byte]))))).toBe('error.malformed_json');
  });

  test('that is not UTF-8 is refused at its first wrong byte', () => {
    const body = new JsonBody(100);
    expect(codeOf(() => body.write(Buffer.from([0x7b, 0xff, 0x7d])))).toBe('error.malformed_json');
  });
});

describe('the pieces of a body', () => {
  /** What was read of a body, piece by piece. */
  async function piecesOf(chunks: Iterable<Buffer>, limit = 10_000_000) {
    const pieces: number[] = [];
    const into = { write: (bytes: Buffer) => void pieces.push(bytes.length), end: () => 'the body' };
    const ended = await new Promise<unknown>((resolve) => {
      const tooLarge = (): void => resolve('too large');
      readBody(Readable.from(chunks, { objectMode: true }), limit, into, {
        complete: resolve,
        refused: resolve,
        tooLarge,
      });
    });
    return { pieces, ended };
  }

  test('are joined if they are tiny, so that memory does not hold an object per byte', async () => {
    const one = Buffer.from('x');
    const { pieces, ended } = await piecesOf(Array.from({ length: 100_000 }, () => one));
    expect(ended).toBe('the body');
    expect(pieces.reduce((sum, length) => sum + length)).toBe(100_000);
    expect(pieces.length).toBeLessThanOrEqual(100);
  });

  test('are passed on while the body arrives', async () => {
    const { pieces, ended } = await piecesOf(Array.from({ length: 40 }, () => Buffer.alloc(50_000)));
    expect(ended).toBe('the body');
    expect(Math.max(...pieces)).toBeLessThan(200_000);
  });

  test('are no longer read after one was refused', async () => {
    let taken = 0;
    function* endless(): Generator<Buffer> {
      for (; taken < 1000; taken++) yield Buffer.alloc(70_000);
    }
    const into = {
      write: () => {
        throw new MessagingError('error.request_invalid');
      },
      end: () => undefined,
    };
    const error = await new Promise((resolve) => {
      const sink = { complete: resolve, refused: resolve, tooLarge: () => resolve('too large') };
      readBody(Readable.from(endless(), { objectMode: true }), 100_000_000, into, sink);
    });
    expect(error).toMatchObject({ code: 'error.request_invalid' });
    expect(taken).toBeLessThan(50);
  });
});

describe('the length of a text', () => {
  test('is not counted if it cannot matter', async () => {
    const { hasCodePoints } = await import('../../../src/common/inputs.js');
    expect(['', 'a', '😀'.repeat(128), 'a'.repeat(128)].map((text) => hasCodePoints(text, 1, 128))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    const walks = jest.spyOn(String.prototype, Symbol.iterator);
    const matches = jest.spyOn(String.prototype, 'match');
    expect(
      ['a'.repeat(129), '😀'.repeat(129), '😀'.repeat(100_000)].map((text) => hasCodePoints(text, 1, 128)),
    ).toEqual([false, false, false]);
    const longest = [...walks.mock.contexts, ...matches.mock.contexts].map((text) => String(text).length);
    walks.mockRestore();
    matches.mockRestore();
    expect(Math.max(0, ...longest)).toBeLessThanOrEqual(256);
  });
});
