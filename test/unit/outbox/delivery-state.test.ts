import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type DeliveryRow,
  type DeliveryStatus,
  type DeliveryUpdate,
  nextState,
} from '../../../src/outbox/delivery-state.js';

type Reported = DeliveryUpdate['status'];
type Fence = 'report' | 'holder' | 'stale' | 'future';

const REPORTED: readonly Reported[] = [
  'queued',
  'sent',
  'unknown',
  'delivered',
  'undelivered',
  'failed',
  'read',
  'canceled',
];
const FENCES: readonly Fence[] = ['report', 'holder', 'stale', 'future'];

/**
 * From whom a delivery in the state of the row accepts each state: `*` from everybody, `r` from a report (no attempt),
 * `h` from the attempt that holds the lease, `.` from nobody. Columns as in `REPORTED`.
 */
const TABLE: Readonly<Record<DeliveryStatus, string>> = {
  //           queued sent unknown delivered undelivered failed read canceled
  queued: '      .     *     r        *          *         r     *      *',
  sending: '     h     *    rh        *          *        rh     *      .',
  sent: '        .     .     r        *          *         r     *      .',
  unknown: '     .     .     .        *          *         r     *      .',
  delivered: '   .     .     .        .          .         .     *      .',
  undelivered: ' .     .     .        .          .         .     .      .',
  failed: '      .     .     .        .          .         .     .      .',
  canceled: '    .     .     .        .          .         .     .      .',
  read: '        .     .     .        .          .         .     .      .',
};

const ROWS = Object.keys(TABLE).filter((name): name is DeliveryStatus => name in TABLE);

const row = (status: DeliveryStatus): DeliveryRow => ({ status, units: 3, attempt: 5, dueAt: 900 });
const ATTEMPTS: Readonly<Record<Fence, number | undefined>> = { report: undefined, holder: 5, stale: 4, future: 6 };

function settlement(status: Reported, fence: Fence, dueAt?: number): DeliveryUpdate {
  const attempt = ATTEMPTS[fence];
  return {
    messageId: 'm',
    position: 0,
    status,
    at: 1000,
    ...(attempt !== undefined && { attempt }),
    ...(dueAt !== undefined && { dueAt }),
  };
}

function allowed(from: DeliveryStatus, to: Reported, fence: Fence): boolean {
  const cell = TABLE[from].trim().split(/ +/)[REPORTED.indexOf(to)] ?? '';
  return cell === '*' || (fence === 'report' && cell.includes('r')) || (fence === 'holder' && cell.includes('h'));
}

const CASES = ROWS.flatMap((from) =>
  REPORTED.flatMap((to) => FENCES.map((fence) => ({ from, to, fence, moves: allowed(from, to, fence) }))),
);

describe('nextState', () => {
  test.each(ROWS)(
    'a report on one attempt applies to a delivery that became unknown with that attempt; here it is %s',
    (from) => {
      for (const status of ['undelivered', 'failed'] as const) {
        for (const [reportedAttempt, doubtful] of [
          [5, false],
          [5, true],
          [4, false],
          [6, false],
          ['every', false],
          ['every', true],
        ] as const) {
          const moved = nextState({ ...row(from), doubtful }, { ...settlement(status, 'report'), reportedAttempt });
          const isMeant = reportedAttempt === 'every' || (reportedAttempt === 5 && !doubtful);
          const applies = from === 'unknown' && isMeant;
          expect(moved).toEqual(applies ? { status, dueAt: null, refund: status === 'failed' ? 3 : 0 } : undefined);
        }
      }
    },
  );

  test('the table is complete', () => {
    expect(ROWS).toHaveLength(9);
    for (const cells of Object.values(TABLE)) expect(cells.trim().split(/ +/)).toHaveLength(REPORTED.length);
    expect(CASES).toHaveLength(9 * 8 * 4);
  });

  test.each(CASES)('$from, update to $to by $fence: moves $moves', ({ from, to, fence, moves }) => {
    const change = nextState(row(from), settlement(to, fence, 2000));
    const waits = to === 'queued' || to === 'sent';
    const refund = to === 'failed' || to === 'canceled' ? 3 : 0;
    expect(change).toEqual(moves ? { status: to, dueAt: waits ? 2000 : null, refund } : undefined);
  });

  test('a delivery that a carrier may have accepted is not canceled', () => {
    expect(nextState({ ...row('queued'), doubtful: true }, settlement('canceled', 'report'))).toBeUndefined();
  });

  test('a retry without a time is due at the time of its update', () => {
    expect(nextState(row('sending'), settlement('queued', 'holder'))?.dueAt).toBe(1000);
  });

  test('a claim without an attempt is taken back only by the attempt that holds the lease', () => {
    const untried = (fence: Fence, leaseUntil = 900): DeliveryUpdate => ({
      ...settlement('queued', fence, 2000),
      uncounted: { leaseUntil },
    });
    const back = { status: 'queued', dueAt: 2000, refund: 0, attempt: 4 };
    expect(nextState(row('sending'), untried('holder'))).toEqual(back);
    for (const fence of ['report', 'stale', 'future'] as const) {
      expect(nextState(row('sending'), untried(fence))).toBeUndefined();
    }
    expect(nextState(row('sending'), untried('holder', 899))).toBeUndefined();
  });

  test('a sent delivery without a deadline never expires', () => {
    expect(nextState(row('sending'), settlement('sent', 'holder'))?.dueAt).toBeNull();
  });

  test('a report that may be the last one ends the deadline of a sent delivery, and moves nothing else', () => {
    const last: DeliveryUpdate = { ...settlement('sent', 'report'), dueAt: null };
    expect(nextState(row('sent'), last)).toEqual({ status: 'sent', dueAt: null, refund: 0 });
    expect(nextState(row('sending'), last)).toEqual({ status: 'sent', dueAt: null, refund: 0 });
    expect(nextState({ ...row('sent'), dueAt: null }, last)).toBeUndefined();
    expect(nextState({ ...row('sent'), dueAt: null }, settlement('sent', 'holder', 2000))).toBeUndefined();
    for (const status of ['unknown', 'delivered', 'undelivered', 'failed', 'read'] as const) {
      expect(nextState(row(status), last)).toBeUndefined();
    }
  });

  test('a recipient that cost nothing is refunded nothing', () => {
    const free: DeliveryRow = { status: 'sending', units: 0, attempt: 5, dueAt: 900 };
    expect(nextState(free, settlement('failed', 'report'))?.refund).toBe(0);
  });
});

/** One thing that happens to a delivery: a worker claims it, or somebody settles it. */
type Event = 'claim' | 'takeover' | DeliveryUpdate;

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<Event>('claim', 'takeover') },
  {
    weight: 5,
    arbitrary: fc
      .record({ status: fc.constantFrom(...REPORTED), attempt: fc.option(fc.nat(5), { nil: undefined, freq: 3 }) })
      .map(({ status, attempt }) => ({
        messageId: 'm',
        position: 0,
        status,
        at: 0,
        ...(attempt !== undefined && { attempt }),
      })),
  },
);

interface Life {
  readonly states: readonly DeliveryStatus[];
  readonly refunds: readonly number[];
}

function live(events: readonly Event[], rules: typeof nextState): Life {
  let now: DeliveryRow = { status: 'queued', units: 4, attempt: 0, dueAt: 0 };
  const states: DeliveryStatus[] = [now.status];
  const refunds: number[] = [];
  for (const event of events) {
    const before = now;
    if (typeof event === 'object') {
      const change = rules(now, event);
      if (change && change.refund !== 0) refunds.push(change.refund);
      if (change) now = { ...now, status: change.status };
    } else if (now.status === (event === 'claim' ? 'queued' : 'sending')) {
      now = { ...now, status: 'sending', attempt: now.attempt + 1 };
    }
    if (now !== before) states.push(now.status);
  }
  return { states, refunds };
}

/** The states that may follow, whoever reports them. */
const FOLLOWS: Readonly<Record<DeliveryStatus, readonly DeliveryStatus[]>> = {
  queued: ['sending', 'sent', 'unknown', 'delivered', 'undelivered', 'failed', 'read', 'canceled'],
  sending: ['sending', 'queued', 'sent', 'unknown', 'delivered', 'undelivered', 'failed', 'read'],
  sent: ['unknown', 'delivered', 'undelivered', 'failed', 'read'],
  unknown: ['delivered', 'undelivered', 'failed', 'read'],
  delivered: ['read'],
  undelivered: [],
  failed: [],
  canceled: [],
  read: [],
};

function soundLife(rules: typeof nextState) {
  return fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
    const { states, refunds } = live(events, rules);
    for (const [index, state] of states.slice(1).entries()) expect(FOLLOWS[states[index] ?? 'read']).toContain(state);
    const isRefunded = states.includes('failed') || states.includes('canceled');
    expect(refunds).toEqual(isRefunded ? [4] : []);
    if (isRefunded) expect(['failed', 'canceled']).toContain(states.at(-1));
  });
}

const MISTAKES: Readonly<Record<string, typeof nextState>> = {
  'lets everything pass': (_, { status }) => ({ status, dueAt: null, refund: 0 }),
  'refunds whatever has failed already': (now, reported) =>
    now.status === 'failed' && reported.status === 'failed'
      ? { status: 'failed', dueAt: null, refund: now.units }
      : nextState(now, reported),
  'delivers after a failure': (now, reported) =>
    nextState(now.status === 'failed' ? { ...now, status: 'sent' } : now, reported),
  'sends what is unknown again': (now, reported) =>
    now.status === 'unknown' && reported.status === 'queued'
      ? { status: 'queued', dueAt: 0, refund: 0 }
      : nextState(now, reported),
  'gives half back': (now, reported) => {
    const change = nextState(now, reported);
    return change && { ...change, refund: change.refund / 2 };
  },
};

describe('a delivery after any events in any order', () => {
  test('only moves forward, ends once, and is refunded exactly if it failed', () => {
    fc.assert(soundLife(nextState), { numRuns: 5000 });
  });

  test.each(Object.entries(MISTAKES))('a state machine that %s is noticed', (_, rules) => {
    expect(fc.check(soundLife(rules), { numRuns: 5000, seed: 1 }).failed).toBe(true);
  });

  test('is put back only by the attempt that holds the lease', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ROWS),
        fc.nat(4),
        fc.option(fc.nat(4), { nil: undefined }),
        (status, held, reported) => {
          const attempt = reported === undefined ? {} : { attempt: reported };
          const settled = { messageId: 'm', position: 0, status: 'queued', at: 0, ...attempt } as const;
          const change = nextState({ status, units: 1, attempt: held, dueAt: 0 }, settled);
          expect(change !== undefined).toBe(status === 'sending' && reported === held);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
