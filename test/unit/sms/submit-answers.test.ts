import { describe, expect, test } from '@jest/globals';
import { checkSubmitResult, checkSubmitResults } from '../../../src/sms/receipts/submit-answers.js';

const BAD = { kind: 'unknown', error: 'bad_answer' };
const attempt = { route: 'a', outcome: 'sent', at: 5, code: '0' };

describe('the result of a transport for an SMS', () => {
  test('is accepted unchanged, with everything that is recorded of it', () => {
    const results = [
      { kind: 'sent', route: 'a', carrierIds: ['id-1', ''], segments: 2, attempts: [attempt] },
      { kind: 'sent' },
    ];
    expect(checkSubmitResults(results, 2)).toEqual({ results, fault: undefined });
    expect(checkSubmitResult(results[0])).toEqual({ result: results[0], fault: undefined });
  });

  test.each<[object, string]>([
    [{ route: 5 }, '`route` must be a text'],
    [{ carrierIds: 'id-1' }, '`carrierIds` must be a list of texts'],
    [{ carrierIds: [7] }, '`carrierIds` must be a list of texts'],
    [{ carrierIds: {} }, '`carrierIds` must be a list of texts'],
    [{ segments: 0 }, '`segments` must be an integer'],
    [{ segments: '1' }, '`segments` must be an integer'],
    [{ attempts: {} }, '`attempts` must be a list of { route, outcome, at }'],
    [{ attempts: [null] }, '`attempts` must be a list'],
    [{ attempts: [{ ...attempt, at: 'now' }] }, '`attempts` must be a list'],
    [{ attempts: [{ ...attempt, outcome: 'lost' }] }, '`attempts` must be a list'],
    [{ attempts: [{ ...attempt, code: 7 }] }, '`attempts` must be a list'],
    [{ trail: 7 }, '`trail` must be a list'],
  ])('is malformed if it is %j, which does not affect the others', (wrong, fault) => {
    const { results, fault: given } = checkSubmitResults([{ kind: 'sent' }, { kind: 'sent', ...wrong }], 2);
    expect([results, given]).toEqual([[{ kind: 'sent' }, BAD], expect.stringContaining(fault)]);
    expect(checkSubmitResult({ kind: 'sent', ...wrong }).result).toEqual(BAD);
  });

  test.each([undefined, null])('is malformed if it is reported early as %s', (given) => {
    expect(checkSubmitResult(given).result).toEqual({ kind: 'unknown', error: 'no_answer' });
  });
});
