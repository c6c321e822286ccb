import assert from 'node:assert/strict';
import { type LedgerEntry, type LedgerPosting, MAX_BALANCE } from '../../../../src/billing/ledger-entry.js';
import { SECOND_MS } from '../../../../src/common/time.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, START } from '../fixtures.js';
import { pages } from '../outbox/listing.js';
import type { StorageFixture } from '../storage-fixture.js';

function posting(id: string, units: number, over: Partial<LedgerPosting> = {}): LedgerPosting {
  return { id, accountId: ACCOUNT, kind: units < 0 ? 'adjust' : 'topup', units, at: START, ...over };
}

function line(id: string, units: number, over: Partial<LedgerEntry> = {}): LedgerEntry {
  const free = { messageId: undefined, position: undefined, note: undefined };
  return { id, accountId: ACCOUNT, kind: units < 0 ? 'adjust' : 'topup', units, ...free, at: START, ...over };
}

export function ledgerTests({ test }: TestRunner, world: StorageFixture): void {
  const lines = async (accountId = ACCOUNT) => (await world.ledger.entries(accountId, { limit: 100 })).items;

  test('a posting changes the balance and is listed, newest first', async () => {
    await world.fund(0);
    const note = 'Facture n° 12 "payée" \\ 😀';
    assert.equal(await world.ledger.post(posting('p1', 100, { note })), 'posted');
    assert.equal(await world.ledger.post(posting('p2', -30, { at: START + 1 })), 'posted');
    assert.deepEqual(await lines(), [line('p2', -30, { at: START + 1 }), line('p1', 100, { note })]);
    await world.holds(70);
  });

  test('a balance goes down to 0 and no further', async () => {
    await world.fund(0);
    await world.ledger.post(posting('p1', 10));
    assert.equal(await world.ledger.post(posting('p2', -11)), 'refused');
    await world.holds(10);
    assert.equal(await world.ledger.post(posting('p3', -10)), 'posted');
    assert.equal(await world.ledger.post(posting('p4', -1)), 'refused');
    await world.holds(0);
    assert.deepEqual((await lines()).map(({ id }) => id).sort(), ['p1', 'p3']);
  });

  test('a refused posting leaves no trace, so its id may be used again', async () => {
    await world.fund(0);
    assert.equal(await world.ledger.post(posting('p1', -5)), 'refused');
    await world.ledger.post(posting('p2', 5));
    assert.equal(await world.ledger.post(posting('p1', -5)), 'posted');
    await world.holds(0);
  });

  test('an id is posted once; the same account, kind and units are a repeat, and anything else finds it taken', async () => {
    await world.fund(0);
    await world.fund(20, 'acc2');
    const { ledger } = world;
    assert.equal(await ledger.post(posting('p1', 10)), 'posted');
    assert.equal(await ledger.post(posting('p1', 10)), 'repeated');
    assert.equal(await ledger.post(posting('p1', 10, { note: 'again', at: START + 1 })), 'repeated');
    assert.equal(await ledger.post(posting('p1', 500)), 'taken');
    assert.equal(await ledger.post(posting('p1', -10)), 'taken');
    assert.equal(await ledger.post(posting('p1', 10, { kind: 'adjust' })), 'taken');
    assert.equal(await ledger.post(posting('p1', 10, { accountId: 'acc2' })), 'taken');
    assert.deepEqual(await lines(), [line('p1', 10)]);
    await world.holds(10);
    await world.holds(20, 'acc2');
  });

  test('the ids of charges and refunds are taken, and a posting with the reference of either is made beside them', async () => {
    await world.fund(1);
    const [charge, refund] = [messageId(1), `${messageId(1)}:0`];
    const goodwill = posting(`op:${charge}`, 5);
    const early = posting(`op:${refund}`, 7);
    await world.accept(aSend(1));
    await world.claim();
    const post = (each: LedgerPosting) => world.ledger.post(each);
    assert.deepEqual([await post(early), await post(goodwill)], ['posted', 'posted']);
    await world.settle(messageId(1), 'failed', { attempt: 1 });
    assert.deepEqual([await post(early), await post(goodwill)], ['repeated', 'repeated']);
    assert.deepEqual([await post(posting(charge, 5)), await post(posting(refund, 1))], ['taken', 'taken']);
    const booked = (await lines()).map(({ id, units }) => [id, units]).sort();
    const expected = [
      [charge, -1],
      [refund, 1],
      [early.id, 7],
      [goodwill.id, 5],
      [`funds-${ACCOUNT}`, 1],
    ];
    assert.deepEqual(booked, expected.sort());
    await world.holds(1 + 5 + 7);
  });

  test('an unknown account gets no posting', async () => {
    assert.equal(await world.ledger.post(posting('p1', 10)), 'unknown');
    assert.equal(await world.ledger.balance(ACCOUNT), undefined);
    assert.deepEqual(await world.ledger.entries(ACCOUNT, { limit: 5 }), { items: [], next: undefined });
    await world.sound();
  });

  test('balances beyond 32 bits are exact', async () => {
    await world.fund(Number.MAX_SAFE_INTEGER);
    await world.holds(Number.MAX_SAFE_INTEGER);
    await world.accept(aSend(1, { recipients: [{ number: '22670000001', units: 3 }] }));
    await world.holds(Number.MAX_SAFE_INTEGER - 3);
  });

  test('postings never raise the total above the highest balance, so that no refund exceeds it', async () => {
    await world.fund(MAX_BALANCE - 1);
    assert.equal(await world.ledger.post(posting('p1', 2)), 'over');
    assert.equal(await world.ledger.post(posting('p1', 2, { kind: 'adjust' })), 'over');
    await world.holds(MAX_BALANCE - 1);
    assert.equal(await world.ledger.post(posting('p2', 1)), 'posted');
    assert.equal(await world.ledger.post(posting('p2', 1)), 'repeated');
    await world.holds(MAX_BALANCE);
    await world.accept(aSend(1, { recipients: [{ number: phone(1), units: 3 }] }));
    // A charge may be refunded.
    assert.equal(await world.ledger.post(posting('p3', 1)), 'over');
    await world.claim();
    await world.settle(messageId(1), 'failed', { attempt: 1 });
    await world.holds(MAX_BALANCE);
    assert.equal(await world.ledger.post(posting('p4', -5)), 'posted');
    assert.equal(await world.ledger.post(posting('p5', 6, { kind: 'adjust' })), 'over');
    assert.equal(await world.ledger.post(posting('p6', 5)), 'posted');
    await world.holds(MAX_BALANCE);
  });

  test('charges and refunds name their message, and have ids that can exist only once', async () => {
    await world.fund(10);
    const two = [1, 2].map((units) => ({ number: `2267000000${units}`, units }));
    await world.accept(aSend(1, { recipients: two, at: START + 1 }));
    await world.claim({ now: START + 2 });
    await world.settle(messageId(1), 'failed', { position: 1, attempt: 1, at: START + SECOND_MS });
    const [refund, charge, ...rest] = await lines();
    const message = { messageId: messageId(1) };
    const refunded = { kind: 'refund', ...message, position: 1, at: START + SECOND_MS } as const;
    assert.deepEqual(charge, line(messageId(1), -3, { kind: 'charge', ...message, at: START + 1 }));
    assert.deepEqual(refund, line(`${messageId(1)}:1`, 2, refunded));
    assert.deepEqual(rest, [line(`funds-${ACCOUNT}`, 10)]);
  });

  test('entries are listed page by page, each once, while new ones arrive', async () => {
    await world.fund(0);
    await world.fund(50, 'acc2');
    for (const index of range(7)) await world.ledger.post(posting(`p${index}`, 1, { at: START + index }));
    const read = await pages(
      (page) => world.ledger.entries(ACCOUNT, page),
      3,
      (turn) => world.ledger.post(posting(`late${turn}`, 1, { at: START + SECOND_MS + turn })),
    );
    assert.deepEqual(read, [['p6', 'p5', 'p4'], ['p3', 'p2', 'p1'], ['p0']]);
  });

  test('a page starts after an entry of the account, or there is none', async () => {
    await world.fund(0);
    await world.fund(5, 'acc2');
    await world.ledger.post(posting('p1', 1));
    assert.deepEqual(await world.ledger.entries(ACCOUNT, { limit: 3, after: 'p1' }), { items: [], next: undefined });
    for (const after of ['p2', 'funds-acc2', '']) {
      await assert.rejects(world.ledger.entries(ACCOUNT, { limit: 3, after }), { code: 'error.invalid_cursor' });
    }
  });

  test('entries of the same moment are ordered by id, and a page never ends with an empty one', async () => {
    await world.fund(0);
    for (const id of ['p3', 'p1', 'p4', 'p2']) await world.ledger.post(posting(id, 1));
    const read = await pages((page) => world.ledger.entries(ACCOUNT, page), 2);
    assert.deepEqual(read, [
      ['p4', 'p3'],
      ['p2', 'p1'],
    ]);
  });
}
