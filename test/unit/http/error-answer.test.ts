import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ForbiddenException, HttpException, UnauthorizedException } from '@nestjs/common';
import { MessagingError } from '../../../src/common/errors.js';
import { en } from '../../../src/common/text/catalogue.en.js';
import { fr } from '../../../src/common/text/catalogue.fr.js';
import { errorAnswer, errorStatus, errorWord } from '../../../src/http/errors.js';

const body = (error: unknown): unknown => errorAnswer(error, fr).body;
const named = (statusCode: number, message: string, error: string): object => ({ statusCode, message, error });

describe('errorAnswer', () => {
  test('has a status for every error of the catalogue', () => {
    const codes = Object.keys(fr).filter((key) => key.startsWith('error.'));
    expect(Object.keys(errorStatus).sort()).toEqual(codes.sort());
  });

  test('fills in the values and sets Retry-After and the challenge', () => {
    expect(errorAnswer(new MessagingError('error.invalid_number', { number: '+1' }), fr)).toEqual({
      body: named(400, 'Numéro invalide : +1', 'Bad Request'),
      headers: { 'X-Error-Code': 'invalid_number' },
    });
    expect(errorAnswer(new MessagingError('error.idempotency_running', {}, 1), fr).headers).toEqual({
      'X-Error-Code': 'idempotency_running',
      'Retry-After': '1',
    });
    expect(errorAnswer(new MessagingError('error.unauthorized'), fr).headers).toEqual({
      'X-Error-Code': 'unauthorized',
      'WWW-Authenticate': expect.stringMatching(/^ApiKey /),
    });
  });

  test.each<[unknown, object]>([
    [new ForbiddenException('no'), named(403, 'no', 'Forbidden')],
    [new UnauthorizedException(), named(401, 'Unauthorized', 'Unauthorized')],
    [new HttpException('short', 402), named(402, 'short', 'Payment Required')],
    [new HttpException({ message: ['a', 'b'], code: 7 }, 400), named(400, 'a, b', 'Bad Request')],
    [new HttpException({ code: 7 }, 499), named(499, 'Http Exception', 'Error')],
    [Object.assign(new Error('x'), { statusCode: 413 }), named(413, 'Requête trop volumineuse', 'Payload Too Large')],
    [Object.assign(new Error('x'), { statusCode: 404 }), named(404, 'Requête invalide', 'Not Found')],
    [Object.assign(new Error('x'), { statusCode: 400 }), named(400, 'Requête invalide', 'Bad Request')],
    [
      Object.assign(new Error('x'), { statusCode: 502 }),
      named(500, 'Erreur interne du service', 'Internal Server Error'),
    ],
    [new Error('secret'), named(500, 'Erreur interne du service', 'Internal Server Error')],
    ['a string', named(500, 'Erreur interne du service', 'Internal Server Error')],
    [undefined, named(500, 'Erreur interne du service', 'Internal Server Error')],
  ])('turns %p into the error body of the API', (error, expected) => {
    expect(body(error)).toEqual(expected);
  });

  test.each<[unknown, string]>([
    [new MessagingError('error.use_x_api_key'), 'unauthorized'],
    [new UnauthorizedException(), 'unauthorized'],
    [new ForbiddenException('no'), 'forbidden'],
    [new HttpException('soon', 429), 'too_many_requests'],
    [new HttpException('none', 499), 'error'],
    [Object.assign(new Error('x'), { statusCode: 413 }), 'body_too_large'],
    [Object.assign(new Error('x'), { statusCode: 404 }), 'request_invalid'],
    [new Error('secret'), 'internal'],
  ])('gives programs one code for %p', (error, word) => {
    expect(errorAnswer(error, en).headers['X-Error-Code']).toBe(word);
    expect(errorAnswer(error, fr).headers['X-Error-Code']).toBe(word);
  });

  test('has no code that says more than its text', () => {
    const codes = Object.keys(errorStatus) as (keyof typeof errorStatus)[];
    const texts = new Map<string, Set<string>>();
    for (const code of codes.filter((each) => errorStatus[each] !== 401)) {
      texts.set(fr[code], new Set([...(texts.get(fr[code]) ?? []), errorWord(code)]));
    }
    expect([...texts].filter(([, words]) => words.size > 1)).toEqual([]);
    for (const code of codes) if (errorStatus[code] === 401) expect(errorWord(code)).toBe('unauthorized');
  });

  test('the documentation lists every code with its status', () => {
    const page = readFileSync('docs/http-api.md', 'utf8');
    const section = page.slice(page.indexOf('### Error codes'));
    const shown = section.slice(0, section.indexOf('\n#', 1)).matchAll(/^\| (\d{3}) \| (.+) \|$/gm);
    const documented = [...shown].flatMap(([, status, words]) =>
      [...(words ?? '').matchAll(/`(\w+)`/g)].map(([, word]) => `${status} ${word}`),
    );
    const codes = Object.keys(errorStatus) as (keyof typeof errorStatus)[];
    expect(documented.sort()).toEqual(
      [...new Set(codes.map((code) => `${errorStatus[code]} ${errorWord(code)}`))].sort(),
    );
  });

  test('the dashboard knows only words that exist', () => {
    const words = new Set((Object.keys(errorStatus) as (keyof typeof errorStatus)[]).map(errorWord));
    const page = join('src', 'dashboard', 'web');
    const sources = readdirSync(page, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
    const compared = sources.flatMap((path) => {
      const source = readFileSync(join(page, path), 'utf8');
      const [, listed = ''] = /^const KNOWN = \[([^\]]*)\]/m.exec(source) ?? [];
      return [...source.matchAll(/\bcode [!=]== '(\w+)'/g), ...listed.matchAll(/'(\w+)'/g)].map(
        ([, word = '']) => word,
      );
    });
    expect(compared.length).toBeGreaterThan(10);
    // The page itself makes an error of this word.
    expect(compared.filter((word) => !words.has(word))).toEqual(['link_refused']);
  });
});
