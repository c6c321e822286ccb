import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { onceId } from '../../../src/common/idempotency-key.js';
import { DAY_MS } from '../../../src/common/time.js';
import {
  type Decide,
  decide,
  type KeySpending,
  type Seen,
  type SendDecision,
  secondsToMidnight,
  spendingId,
} from '../../../src/outbox/accept/decide.js';
import type { IdempotencyKey, Send } from '../../../src/outbox/accept/send.js';

/** The names contain blanks on purpose: `a b` + `c` and `a` + `b c` must not be the same key. */
const ACCOUNTS = ['a', 'a b', 'b', 'unknown'];
const ROUTES = ['c', 'b c', 'sms'];
const KEYS = ['k', 'K', 'c k'];
const FAMILIES = ['f', 'F'];

interface KeptReply {
  readonly key: IdempotencyKey;
  readonly reply: object;
}

interface Case {
  readonly sends: readonly Send[];
  readonly balances: readonly (readonly [string, number])[];
  readonly kept: readonly KeptReply[];
  readonly keySpending: readonly KeySpending[];
}

const anyKey = fc.record({
  route: fc.constantFrom(...ROUTES),
  key: fc.constantFrom(...KEYS),
  fingerprint: fc.constantFrom('f1', 'f2'),
  expiresAt: fc.constant(1),
});

const anySend = fc.record({
  accountId: fc.constantFrom(...ACCOUNTS),
  units: fc.array(fc.nat(4), { maxLength: 4 }),
  key: fc.option(anyKey, { nil: undefined, freq: 2 }),
  cap: fc.option(
    fc.record({ family: fc.constantFrom(...FAMILIES), dailyUnits: fc.option(fc.nat(12), { nil: undefined }) }),
    {
      nil: undefined,
      freq: 2,
    },
  ),
  day: fc.nat(1),
});

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    drafts: fc.array(anySend, { maxLength: 30 }),
    balances: fc.tuple(fc.nat(20), fc.nat(8), fc.nat(3)),
    kept: fc.array(fc.tuple(fc.constantFrom(...ACCOUNTS), anyKey), { maxLength: 3 }),
    used: fc.tuple(fc.nat(6), fc.nat(6)),
  })
  .map(({ drafts, balances, kept, used }) => ({
    sends: drafts.map(({ accountId, units, key, cap, day }, index) => ({
      id: `m${index}`,
      accountId,
      channel: 'sms',
      sender: 'INFOS',
      payload: { kind: 'text' },
      at: day * DAY_MS + index,
      ...(cap && { key: { id: `key${index}`, ...cap } }),
      recipients: units.map((price, place) => ({ number: `${place}`, units: price })),
      reply: { smsID: index },
      ...(key && { once: { accountId, ...key } }),
    })),
    balances: ACCOUNTS.slice(0, 3).map((id, index) => [id, balances[index] ?? 0] as const),
    kept: kept.map(([accountId, key], index) => ({ key: { accountId, ...key }, reply: { kept: index } })),
    keySpending: used.flatMap((units, day) => (units === 0 ? [] : [{ family: 'f', day, units }])),
  }));

function seenOf({ balances, kept, keySpending }: Case): Seen {
  const replies = kept.map(({ key, reply }) => [onceId(key), { fingerprint: key.fingerprint, reply }] as const);
  const spent = new Map(keySpending.map((use) => [spendingId(use), use]));
  return { balances: new Map(balances), replies: new Map(replies), records: new Map(), keySpending: spent };
}

/** A message in the model's history: what was accepted, and under which key. */
interface Taken extends Partial<KeptReply> {
  readonly send?: Send;
}

const sameKey = (a: IdempotencyKey, b: IdempotencyKey) =>
  a.accountId === b.accountId && a.route === b.route && a.key === b.key;

/**
 * The same rules as a clerk would apply them with nothing but a list of what was accepted so far: without running
 * totals and without an index of keys.
 */
function clerk({ sends, balances, kept, keySpending }: Case): { decisions: SendDecision[]; taken: Taken[] } {
  const history: Taken[] = kept.filter(
    ({ key }, index) => !kept.slice(index + 1).some((later) => sameKey(later.key, key)),
  );
  const decisions = sends.map((send): SendDecision => {
    const { once, accountId, reply } = send;
    const before = once && history.find(({ key }) => key && sameKey(key, once));
    if (before) {
      if (before.key?.fingerprint !== once.fingerprint) return { kind: 'refused', why: 'idempotency_mismatch' };
      return { kind: 'replayed', reply: before.reply ?? {} };
    }
    const account = balances.find(([id]) => id === accountId);
    if (!account) return { kind: 'refused', why: 'account_not_found' };
    const { key, at } = send;
    if (key?.dailyUnits !== undefined && unitsOf([send]) > 0) {
      const day = Math.floor(at / DAY_MS);
      const before = keySpending.find((use) => use.family === key.family && use.day === day)?.units ?? 0;
      const sameDay = history.flatMap((past) =>
        past.send?.key?.family === key.family &&
        past.send.key.dailyUnits !== undefined &&
        Math.floor(past.send.at / DAY_MS) === day
          ? [past.send]
          : [],
      );
      if (before + unitsOf([...sameDay, send]) > key.dailyUnits) return { kind: 'refused', why: 'key_cap' };
    }
    const bills = [...history.flatMap((past) => (past.send ? [past.send] : [])), send]
      .filter((past) => past.accountId === accountId)
      .flatMap(({ recipients }) => recipients.map(({ units }) => units));
    if (bills.reduce((sum, units) => sum + units, 0) > account[1]) {
      return { kind: 'refused', why: 'insufficient_balance' };
    }
    history.push({ send, reply, ...(once && { key: once }) });
    return { kind: 'accepted', reply };
  });
  return { decisions, taken: history.filter(({ send }) => send !== undefined) };
}

function unitsOf(sends: readonly Send[]): number {
  return sends.flatMap(({ recipients }) => recipients).reduce((sum, { units }) => sum + units, 0);
}

/** Asserts that `rules` decide as the clerk does. */
function agrees(rules: Decide) {
  return fc.property(anyCase, (given) => {
    const { decisions, taken } = clerk(given);
    const decision = rules(given.sends, seenOf(given));
    expect(decision.decisions).toEqual(decisions);
    expect(decision.accepted).toEqual(taken.map(({ send }) => send));
    const spent = new Map<string, number>();
    for (const { accountId, recipients } of decision.accepted) {
      spent.set(
        accountId,
        recipients.reduce((sum, { units }) => sum + units, spent.get(accountId) ?? 0),
      );
    }
    expect(decision.spent).toEqual(spent);
    const keySpending = new Map<string, KeySpending>();
    for (const send of decision.accepted) {
      const { key, at } = send;
      if (key?.dailyUnits === undefined || unitsOf([send]) === 0) continue;
      const { family } = key;
      const day = Math.floor(at / DAY_MS);
      const id = spendingId({ family, day });
      const units = (keySpending.get(id) ?? seenOf(given).keySpending.get(id))?.units ?? 0;
      keySpending.set(id, { family, day, units: units + unitsOf([send]) });
    }
    expect(decision.keySpending).toEqual(keySpending);
  });
}

/** Rules with one mistake each. The property must notice all of them. */
const MISTAKES: Readonly<Record<string, Decide>> = {
  'forgets keys within a batch': (sends, seen) =>
    decide(
      sends.map(({ once, ...send }) => ({ ...send, ...(once && { once: { ...once, key: `${once.key}${send.id}` } }) })),
      seen,
    ),
  'ignores kept replies': (sends, seen) => decide(sends, { ...seen, replies: new Map() }),
  'ignores fingerprints': (sends, seen) =>
    decide(
      sends.map(({ once, ...send }) => ({ ...send, ...(once && { once: { ...once, fingerprint: 'f1' } }) })),
      seen,
    ),
  'lends a unit': (sends, seen) =>
    decide(sends, { ...seen, balances: new Map([...seen.balances].map(([id, units]) => [id, units + 1])) }),
  'keeps the last unit': (sends, seen) =>
    decide(sends, { ...seen, balances: new Map([...seen.balances].map(([id, units]) => [id, units - 1])) }),
  'opens accounts': (sends, seen) => decide(sends, { ...seen, balances: new Map([['unknown', 0], ...seen.balances]) }),
  'decides each send by itself': (sends, seen) => {
    const all = sends.map((send) => decide([send], seen));
    return {
      decisions: all.flatMap(({ decisions }) => decisions),
      accepted: all.flatMap(({ accepted }) => accepted),
      spent: new Map(all.flatMap(({ spent }) => [...spent])),
      records: new Map(),
      keySpending: new Map(all.flatMap(({ keySpending }) => [...keySpending])),
    };
  },
  'lets a key spend a unit more': (sends, seen) => {
    const raised = new Map([...seen.keySpending].map(([id, use]) => [id, { ...use, units: use.units - 1 }]));
    const decision = decide(sends, { ...seen, keySpending: raised });
    const keySpending = new Map(
      [...decision.keySpending].map(([id, use]) => [id, { ...use, units: use.units + (raised.has(id) ? 1 : 0) }]),
    );
    return { ...decision, keySpending };
  },
  'takes all days for one': (sends, seen) =>
    decide(
      sends.map((send) => ({ ...send, at: send.at % DAY_MS })),
      seen,
    ),
  'counts each key by itself': (sends, seen) =>
    decide(
      sends.map(({ key, ...send }) => ({ ...send, ...(key && { key: { ...key, family: key.id } }) })),
      seen,
    ),
  'looks at the balance before the cap': (sends, seen) => {
    const decision = decide(sends, seen);
    const decisions = decision.decisions.map((each, index) =>
      each.kind === 'refused' &&
      each.why === 'key_cap' &&
      unitsOf([sends[index] ?? NOTHING]) > (seen.balances.get(sends[index]?.accountId ?? '') ?? 0)
        ? ({ kind: 'refused', why: 'insufficient_balance' } as const)
        : each,
    );
    return { ...decision, decisions };
  },
  'serves the cheapest first': (sends, seen) => {
    const cost = ({ recipients }: Send) => recipients.reduce((sum, { units }) => sum + units, 0);
    const order = [...sends.keys()].sort((a, b) => cost(sends[a] ?? NOTHING) - cost(sends[b] ?? NOTHING));
    const decision = decide(
      order.map((index) => sends[index] ?? NOTHING),
      seen,
    );
    const decisions = [...sends.keys()].flatMap((index) => decision.decisions[order.indexOf(index)] ?? []);
    return { ...decision, decisions };
  },
};

const NOTHING: Send = {
  id: '',
  accountId: '',
  channel: '',
  sender: '',
  payload: { kind: 'text' },
  recipients: [],
  at: 0,
  reply: {},
};

describe('decide', () => {
  test('decides like a clerk with a list', () => {
    fc.assert(agrees(decide), { numRuns: 3000 });
  });

  test.each(Object.entries(MISTAKES))('a decision that %s is noticed', (_, rules) => {
    expect(fc.check(agrees(rules), { numRuns: 3000, seed: 1 }).failed).toBe(true);
  });

  test('never spends more than there is, and answers each send', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const seen = seenOf(given);
        const { decisions, spent, accepted } = decide(given.sends, seen);
        expect(decisions).toHaveLength(given.sends.length);
        expect(accepted).toHaveLength(decisions.filter(({ kind }) => kind === 'accepted').length);
        for (const [id, units] of spent) expect(units).toBeLessThanOrEqual(seen.balances.get(id) ?? -1);
      }),
      { numRuns: 1000 },
    );
  });

  test('does not change its arguments', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const seen = seenOf(given);
        const copy = structuredClone({ sends: given.sends, seen });
        decide(given.sends, seen);
        expect({ sends: given.sends, seen }).toEqual(copy);
      }),
    );
  });

  test('decides a batch like its sends one after the other', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(30), (given, cut) => {
        const seen = seenOf(given);
        const first = decide(given.sends.slice(0, cut), seen);
        const balances = [...seen.balances].map(([id, units]) => [id, units - (first.spent.get(id) ?? 0)] as const);
        const fresh = first.accepted.flatMap(({ once, reply }) =>
          once ? [[onceId(once), { fingerprint: once.fingerprint, reply }] as const] : [],
        );
        const replies = new Map([...seen.replies, ...fresh]);
        const keySpending = new Map([...seen.keySpending, ...first.keySpending]);
        const rest = { ...seen, balances: new Map(balances), replies, keySpending };
        const second = decide(given.sends.slice(cut), rest);
        expect([...first.decisions, ...second.decisions]).toEqual(decide(given.sends, seen).decisions);
      }),
      { numRuns: 1000 },
    );
  });
});

test.each([
  ['2026-11-21T00:00:00.000Z', 86_400],
  ['2026-11-21T10:00:00.001Z', 50_400],
  ['2026-11-21T23:59:59.999Z', 1],
])('from %s it is %i seconds to midnight', (moment, seconds) => {
  expect(secondsToMidnight(Date.parse(moment))).toBe(seconds);
});

describe('onceId', () => {
  test('is different for any two different keys', () => {
    const part = fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\\', 'é', '|'), maxLength: 3 });
    const scope = fc.record({ accountId: part, route: part, key: part });
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        const same = one.accountId === other.accountId && one.route === other.route && one.key === other.key;
        expect(onceId(one) === onceId(other)).toBe(same);
        expect(onceId({ ...one })).toBe(onceId(one));
      }),
      { numRuns: 5000 },
    );
  });
});
