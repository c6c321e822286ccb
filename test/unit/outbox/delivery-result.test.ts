import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MS, HOUR_MS } from '../../../src/common/time.js';
import {
  backoff,
  DEFAULT_TIMING,
  type DeliveryResult,
  type RepeatPolicy,
  type ResultContext,
  updateOf,
} from '../../../src/outbox/delivery/delivery-result.js';
import type { Delivery } from '../../../src/outbox/outbox-records.js';

const AT = 1_000_000;
const NOW: ResultContext = { at: AT, random: 0, leaseUntil: AT + 9, upSince: 0 };
const timing = { ...DEFAULT_TIMING, maxAttempts: 3, retryBaseMs: 1000, retryMaxMs: 60_000, reportDeadlineMs: 5000 };

function aDelivery(attempt: number): Delivery {
  return {
    ...({
      messageId: 'm',
      position: 2,
      accountId: 'a',
      channel: 'sms',
      lane: undefined,
      sender: 'INFOS',
      priority: 'normal',
    } as const),
    payload: { kind: 'text', text: 'Bonjour' },
    number: '22670000000',
    acceptedAt: 0,
    attempt,
  };
}

describe('the wait before another attempt', () => {
  test('doubles, with its jitter over the upper half, up to the maximum', () => {
    const wait = (attempt: number, random: number) => backoff(timing, attempt, random);
    expect([1, 2, 3, 4, 7, 30, 2000].map((attempt) => wait(attempt, 0))).toEqual([
      500, 1000, 2000, 4000, 30_000, 30_000, 30_000,
    ]);
    expect([1, 2, 3].map((attempt) => wait(attempt, 0.5))).toEqual([750, 1500, 3000]);
  });

  test('is a whole number, never below half of the base or above the maximum', () => {
    const any = fc.record({
      base: fc.integer({ min: 1, max: 100_000 }),
      longer: fc.integer({ min: 0, max: 1_000_000 }),
      attempt: fc.integer({ min: 1, max: 1000 }),
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    });
    fc.assert(
      fc.property(any, ({ base, longer, attempt, random }) => {
        const wait = backoff({ ...timing, retryBaseMs: base, retryMaxMs: base + longer }, attempt, random);
        return Number.isInteger(wait) && wait >= Math.floor(base / 2) && wait <= base + longer;
      }),
    );
  });
});

describe('after an attempt that the carrier may have taken', () => {
  const policies: RepeatPolicy[] = ['idempotent', 'at-least-once', 'at-most-once'];
  const doubted = (result: DeliveryResult, repeat: RepeatPolicy, attempt = 2) =>
    updateOf({ ...aDelivery(attempt), doubtful: true }, result, { repeat, timing }, NOW);

  test('the doubt is carried over to the next attempt', () => {
    const lost: DeliveryResult = { kind: 'unknown', error: 'lost' };
    const settled = updateOf(aDelivery(1), lost, { repeat: 'idempotent', timing }, NOW);
    expect(settled).toMatchObject({ status: 'queued', doubtful: true });
    expect(doubted({ kind: 'retry', error: 'busy' }, 'idempotent')).not.toHaveProperty('doubtful');
  });

  test.each(policies)('with no attempt left the delivery is unknown and nothing is refunded (%s)', (repeat) => {
    expect(doubted({ kind: 'retry', error: 'busy' }, repeat, 3)).toMatchObject({ status: 'unknown', error: 'busy' });
    expect(doubted({ kind: 'refused', error: 'opted_out', unasked: true }, repeat)).toMatchObject({
      status: 'unknown',
    });
  });

  test('a refusal counts if the carrier knows our id; otherwise it is the refusal of the second attempt only', () => {
    const refused: DeliveryResult = { kind: 'refused', error: 'no' };
    expect(policies.map((repeat) => doubted(refused, repeat).status)).toEqual(['failed', 'unknown', 'unknown']);
  });
});

describe('a delivery that waits for an unavailable carrier', () => {
  const away: DeliveryResult = { kind: 'postponed', error: 'circuit_open', until: AT + 1000, away: true };
  /** After this long in the outbox, in a process that has been up for this long. */
  const waited = (
    ms: number,
    upFor: number,
    result: DeliveryResult = away,
    over: Partial<Delivery> = {},
    maxAwayMs = DAY_MS,
  ) =>
    updateOf(
      { ...aDelivery(1), acceptedAt: AT - ms, ...over },
      result,
      { repeat: 'idempotent', timing: { ...timing, maxAwayMs } },
      { ...NOW, upSince: AT - upFor },
    );

  test('waits as long as it may, and then fails', () => {
    expect(waited(DAY_MS - 1000, DAY_MS)).toMatchObject({ status: 'queued', dueAt: AT + 1000 });
    const ended = waited(DAY_MS - 999, DAY_MS);
    expect(ended).toMatchObject({ status: 'failed', error: 'circuit_open', attempt: 1 });
    expect(ended).not.toHaveProperty('uncounted');
  });

  test('then becomes unknown without a refund if an attempt may have been taken', () => {
    expect(waited(DAY_MS, DAY_MS, away, { doubtful: true }).status).toBe('unknown');
  });

  test('counts from the time at which it was to be sent', () => {
    const scheduled = (sendAt: number) => waited(9 * DAY_MS, 9 * DAY_MS, away, { schedule: { sendAt } }).status;
    expect(scheduled(AT - DAY_MS + 1000)).toBe('queued');
    expect(scheduled(AT - DAY_MS + 999)).toBe('failed');
  });

  test('is claimed again at the end of its validity at the latest', () => {
    const valid = { schedule: { validUntil: AT + 500 } };
    expect(waited(0, DAY_MS, away, valid)).toMatchObject({ status: 'queued', dueAt: AT + 500 });
    expect(waited(0, DAY_MS, { kind: 'retry', error: 'busy' }, valid)).toMatchObject({
      status: 'queued',
      dueAt: AT + 500,
    });
    expect(waited(0, DAY_MS, away)).toMatchObject({ status: 'queued', dueAt: AT + 1000 });
  });

  test('is not failed because the host was down: the first hour or the maximum wait of the process does not count', () => {
    expect(waited(9 * DAY_MS, HOUR_MS - 1000).status).toBe('queued');
    expect(waited(9 * DAY_MS, HOUR_MS - 999).status).toBe('failed');
    expect(waited(9 * DAY_MS, 60_000 - 1000, away, {}, 60_000).status).toBe('queued');
    expect(waited(9 * DAY_MS, 60_000 - 999, away, {}, 60_000).status).toBe('failed');
  });

  test('goes on however long it takes if it only waits for its turn or has attempts left', () => {
    expect(waited(9 * DAY_MS, DAY_MS, { kind: 'postponed', error: 'rate_limited', until: AT + 1000 }).status).toBe(
      'queued',
    );
    expect(waited(9 * DAY_MS, DAY_MS, { kind: 'retry', error: 'busy' }).status).toBe('queued');
    expect(waited(9 * DAY_MS, DAY_MS, { kind: 'sent' }).status).toBe('sent');
  });
});

describe('the update for a result', () => {
  const policies: RepeatPolicy[] = ['idempotent', 'at-least-once', 'at-most-once'];
  const meaning = (result: DeliveryResult, repeat: RepeatPolicy, attempt = 1) =>
    updateOf(aDelivery(attempt), result, { repeat, timing }, NOW);

  test.each(policies)('accepted: sent with a deadline for the report, or its final state at once (%s)', (repeat) => {
    expect(meaning({ kind: 'sent', reference: 'r' }, repeat)).toEqual({
      messageId: 'm',
      position: 2,
      attempt: 1,
      at: AT,
      status: 'sent',
      reference: 'r',
      dueAt: AT + 5000,
    });
    expect(meaning({ kind: 'sent', final: 'undelivered', error: 'absent' }, repeat)).toEqual({
      messageId: 'm',
      position: 2,
      attempt: 1,
      at: AT,
      status: 'undelivered',
      error: 'absent',
    });
  });

  test.each(policies)('refused: failed, at the first attempt too (%s)', (repeat) => {
    expect(meaning({ kind: 'refused', error: 'no' }, repeat)).toMatchObject({ status: 'failed', error: 'no' });
  });

  test.each(policies)('not taken: queued again, and failed after the last attempt (%s)', (repeat) => {
    const result: DeliveryResult = { kind: 'retry', error: 'busy' };
    expect(meaning(result, repeat, 1)).toMatchObject({ status: 'queued', dueAt: AT + 500, attempt: 1 });
    expect(meaning(result, repeat, 2)).toMatchObject({ status: 'queued', dueAt: AT + 1000, attempt: 2 });
    expect(meaning(result, repeat, 3)).toMatchObject({ status: 'failed', error: 'busy' });
  });

  test.each(policies)('not tried: queued until its time, and the attempt is not counted (%s)', (repeat) => {
    const result: DeliveryResult = { kind: 'postponed', error: 'full', until: AT + 7 };
    expect(meaning(result, repeat, 3)).toMatchObject({
      status: 'queued',
      dueAt: AT + 7,
      attempt: 3,
      uncounted: { leaseUntil: AT + 9 },
    });
    expect(meaning({ kind: 'retry', error: 'busy' }, repeat)).not.toHaveProperty('uncounted');
  });

  test('unknown: repeated only if that is harmless, and never failed, because a failure is refunded', () => {
    const result: DeliveryResult = { kind: 'unknown', error: 'cut' };
    expect(policies.map((repeat) => meaning(result, repeat).status)).toEqual(['queued', 'unknown', 'unknown']);
    expect(policies.map((repeat) => meaning(result, repeat, 3).status)).toEqual(Array(3).fill('unknown'));
  });
});
