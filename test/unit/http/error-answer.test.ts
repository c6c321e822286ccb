import { describe, expect, test } from '@jest/globals';
import { ForbiddenException, HttpException, UnauthorizedException } from '@nestjs/common';
import { fr } from '../../../src/common/catalogue.fr.js';
import { MessagingError } from '../../../src/common/errors.js';
import { errorAnswer, errorStatus } from '../../../src/http/errors.js';

const body = (error: unknown): unknown => errorAnswer(error, fr).body;
const named = (statusCode: number, message: string, error: string): object => ({ statusCode, message, error });

describe('errorAnswer', () => {
  test('has a status for every error of the catalogue', () => {
    const codes = Object.keys(fr).filter((key) => key.startsWith('error.'));
    expect(Object.keys(errorStatus).sort()).toEqual(codes.sort());
  });

  test('fills the values in and carries Retry-After and the challenge', () => {
    expect(errorAnswer(new MessagingError('error.invalid_number', { number: '+1' }), fr)).toEqual({
      body: named(400, 'Numéro invalide : +1', 'Bad Request'),
      headers: {},
    });
    expect(errorAnswer(new MessagingError('error.idempotency_running', {}, 1), fr).headers).toEqual({
      'Retry-After': '1',
    });
    expect(errorAnswer(new MessagingError('error.unauthorized'), fr).headers).toEqual({
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
  ])('turns %p into the contract’s shape', (error, expected) => {
    expect(body(error)).toEqual(expected);
  });
});
