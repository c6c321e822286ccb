import { describe, expect, test } from '@jest/globals';
import type { AttemptEntry, DeliveryStatus } from '../../../src/outbox/delivery-state.js';
import { attemptsOf } from '../../../src/sms/attempt-view.js';
import { START } from '../../contract/storage/fixtures.js';

const shown = (status: DeliveryStatus, ...attempts: AttemptEntry[]) =>
  attemptsOf({
    number: '22670000000',
    status,
    units: 1,
    refundedUnits: 0,
    error: undefined,
    updatedAt: START,
    position: 0,
    attempts,
    attemptsCount: attempts.length,
  });
const tried = (outcome: string, code?: string): AttemptEntry => ({
  at: START,
  route: 'link',
  outcome,
  ...(code === undefined ? {} : { code }),
});

describe('an attempt as its account sees it', () => {
  test('has a time, a route, a state, an error and segments, and nothing else', () => {
    const entry = { ...tried('sent'), segments: 2, our_segments: 3, secret: 'x' };
    expect(shown('delivered', entry)).toEqual([
      { at: '2026-11-21T10:00:00.000Z', route: 'link', status: 'delivered', error: null, segments: 2 },
    ]);
  });

  test.each<[DeliveryStatus, string, string, string | null]>([
    ['sent', 'sent', 'sent', null],
    ['delivered', 'sent', 'delivered', null],
    ['delivered', 'unknown', 'delivered', null],
    ['undelivered', 'sent', 'undelivered', 'undelivered'],
    ['failed', 'sent', 'failed', 'refused'],
    ['failed', 'refused', 'failed', 'refused'],
    ['failed', 'retry', 'retry', 'temporary'],
    ['unknown', 'sent', 'unknown', 'no_answer'],
    ['sending', 'postponed', 'postponed', 'temporary'],
  ])(
    'for a recipient that is %s and whose attempt was %s is %s, with the error %s',
    (status, outcome, expected, error) => {
      const [first, last] = shown(status, tried('retry'), tried(outcome));
      expect(first).toMatchObject({ status: 'retry', error: 'temporary' });
      expect(last).toMatchObject({ status: expected, error });
    },
  );

  test.each([
    'SMPP 0x0000000b for 22670000000',
    'Bonjour Awa, code 1234',
    'toString',
    '30003',
    '<script>',
    'no_answer\n',
  ])('never shows the words of a carrier: %j', (code) => {
    const texts = ['sent', 'retry', 'postponed', 'refused', 'unknown', code].map((outcome) =>
      JSON.stringify(shown('failed', tried(outcome, code), { ...tried('refused', code), segments: code })),
    );
    for (const text of texts) expect(text).not.toContain(JSON.stringify(code).slice(1, -1));
  });

  test('shows our own code if it says more', () => {
    const words = ['rate_limited', 'smpp: no link', 'malformed_answer', 'expired'];
    expect(words.map((code) => shown('failed', tried('retry', code))[0]?.error)).toEqual([
      'rate_limited',
      'not_connected',
      'bad_answer',
      'expired',
    ]);
  });
});
