import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Decide, decide, onceId, type Seen, type SendDecision } from '../../../src/outbox/decide.js';
import type { IdempotencyKey, Send } from '../../../src/outbox/send.js';

/** Names with blanks on purpose: `a b` + `c` and `a` + `b c` must not be one key. */
const ACCOUNTS = ['a', 'a b', 'b', 'unknown'];
const ROUTES = ['c', 'b c', 'sms'];
const KEYS = ['k', 'K', 'c k'];

interface KeptReply {
  readonly key: IdempotencyKey;
  readonly reply: object;
}

interface Case {
  readonly sends: readonly Send[];
  readonly balances: readonly (readonly [string, number])[];
  readonly kept: readonly KeptReply[];
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
});

const anyCase: fc.Arbitrary<Case> = fc
  .record({
    drafts: fc.array(anySend, { maxLength: 30 }),
    balances: fc.tuple(fc.nat(20), fc.nat(8), fc.nat(3)),
    kept: fc.array(fc.tuple(fc.constantFrom(...ACCOUNTS), anyKey), { maxLength: 3 }),
  })
  .map(({ drafts, balances, kept }) => ({
    sends: drafts.map(({ accountId, units, key }, index) => ({
      ...{ id: `m${index}`, accountId, channel: 'sms', sender: 'INFOS', payload: { kind: 'text' }, at: 0 },
      ...{ recipients: units.map((price, place) => ({ number: `${place}`, units: price })), reply: { smsID: index } },
      ...(key && { once: { accountId, ...key } }),
    })),
    balances: ACCOUNTS.slice(0, 3).map((id, index) => [id, balances[index] ?? 0] as const),
    kept: kept.map(([accountId, key], index) => ({ key: { accountId, ...key }, reply: { kept: index } })),
  }));

function seenOf({ balances, kept }: Case): Seen {
  const replies = kept.map(({ key, reply }) => [onceId(key), { fingerprint: key.fingerprint, reply }] as const);
  return { balances: new Map(balances), replies: new Map(replies), records: new Map() };
}

/** A message in the model's history: what was taken, and under which key. */
interface Taken extends Partial<KeptReply> {
  readonly send?: Send;
}

const sameKey = (a: IdempotencyKey, b: IdempotencyKey) =>
  a.accountId === b.accountId && a.route === b.route && a.key === b.key;

/**
 * The rules once more, told as a clerk would apply them with nothing but a list of what was taken so far: no running
 * totals, no index of keys.
 */
function clerk({ sends, balances, kept }: Case): { decisions: SendDecision[]; taken: Taken[] } {
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
  });
}

/** Rules with one mistake each; the property must notice all of them. */
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
    };
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
  ...{ id: '', accountId: '', channel: '', sender: '', payload: { kind: 'text' }, recipients: [], at: 0, reply: {} },
};

describe('decide', () => {
  test('decides as a clerk with a list would', () => {
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

  test('changes nothing of what it is given', () => {
    fc.assert(
      fc.property(anyCase, (given) => {
        const seen = seenOf(given);
        const copy = structuredClone({ sends: given.sends, seen });
        decide(given.sends, seen);
        expect({ sends: given.sends, seen }).toEqual(copy);
      }),
    );
  });

  test('a batch is decided as its sends one after the other', () => {
    fc.assert(
      fc.property(anyCase, fc.nat(30), (given, cut) => {
        const seen = seenOf(given);
        const first = decide(given.sends.slice(0, cut), seen);
        const balances = [...seen.balances].map(([id, units]) => [id, units - (first.spent.get(id) ?? 0)] as const);
        const fresh = first.accepted.flatMap(({ once, reply }) =>
          once ? [[onceId(once), { fingerprint: once.fingerprint, reply }] as const] : [],
        );
        const rest = { ...seen, balances: new Map(balances), replies: new Map([...seen.replies, ...fresh]) };
        const second = decide(given.sends.slice(cut), rest);
        expect([...first.decisions, ...second.decisions]).toEqual(decide(given.sends, seen).decisions);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('onceId', () => {
  test('tells any two keys apart, and only those', () => {
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
