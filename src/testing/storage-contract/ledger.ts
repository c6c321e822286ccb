import assert from 'node:assert/strict';
import type { LedgerEntry, LedgerPosting } from '../../billing/ledger-store.js';
import { ACCOUNT, aSend, messageId, range, SECOND, START } from './fixtures.js';
import { pages } from './pages.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

function posting(id: string, units: number, over: Partial<LedgerPosting> = {}): LedgerPosting {
  return { id, accountId: ACCOUNT, kind: units < 0 ? 'adjust' : 'topup', units, at: START, ...over };
}

function line(id: string, units: number, over: Partial<LedgerEntry> = {}): LedgerEntry {
  const free = { messageId: undefined, position: undefined, note: undefined };
  return { id, accountId: ACCOUNT, kind: units < 0 ? 'adjust' : 'topup', units, ...free, at: START, ...over };
}

export function ledgerTests({ test }: TestRunner, world: World): void {
  const lines = async (accountId = ACCOUNT) => (await world.ledger.entries(accountId, { limit: 100 })).items;

  test('a posting moves the balance and is on record, newest first', async () => {
    await world.fund(0);
    const note = 'Facture n° 12 "payée" \\ 😀';
    assert.equal(await world.ledger.post(posting('p1', 100, { note })), 'posted');
    assert.equal(await world.ledger.post(posting('p2', -30, { at: START + 1 })), 'posted');
    assert.deepEqual(await lines(), [line('p2', -30, { at: START + 1 }), line('p1', 100, { note })]);
    await world.holds(70);
  });

  test('a balance goes down to 0 and not below', async () => {
    await world.fund(0);
    await world.ledger.post(posting('p1', 10));
    assert.equal(await world.ledger.post(posting('p2', -11)), 'refused');
    await world.holds(10);
    assert.equal(await world.ledger.post(posting('p3', -10)), 'posted');
    assert.equal(await world.ledger.post(posting('p4', -1)), 'refused');
    await world.holds(0);
    assert.deepEqual((await lines()).map(({ id }) => id).sort(), ['p1', 'p3']);
  });

  test('a refused posting leaves no trace: its id may come again', async () => {
    await world.fund(0);
    assert.equal(await world.ledger.post(posting('p1', -5)), 'refused');
    await world.ledger.post(posting('p2', 5));
    assert.equal(await world.ledger.post(posting('p1', -5)), 'posted');
    await world.holds(0);
  });

  test('an id is posted once, also with other contents and for another account', async () => {
    await world.fund(0);
    await world.fund(0, 'acc2');
    assert.equal(await world.ledger.post(posting('p1', 10)), 'posted');
    assert.equal(await world.ledger.post(posting('p1', 10)), 'repeated');
    assert.equal(await world.ledger.post(posting('p1', 500, { note: 'more' })), 'repeated');
    assert.equal(await world.ledger.post(posting('p1', 10, { accountId: 'acc2' })), 'repeated');
    assert.deepEqual(await lines(), [line('p1', 10)]);
    await world.holds(10);
    await world.holds(0, 'acc2');
  });

  test('an unknown account gets nothing', async () => {
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

  test('charges and refunds carry their message, and ids that can exist once only', async () => {
    await world.fund(10);
    const two = [1, 2].map((units) => ({ number: `2267000000${units}`, units }));
    await world.accept(aSend(1, { recipients: two, at: START + 1 }));
    await world.claim({ now: START + 2 });
    await world.settle(messageId(1), 'failed', { position: 1, attempt: 1, at: START + SECOND });
    const [refund, charge, ...rest] = await lines();
    const message = { messageId: messageId(1) };
    const refunded = { kind: 'refund', ...message, position: 1, at: START + SECOND } as const;
    assert.deepEqual(charge, line(messageId(1), -3, { kind: 'charge', ...message, at: START + 1 }));
    assert.deepEqual(refund, line(`${messageId(1)}:1`, 2, refunded));
    assert.deepEqual(rest, [line(`funds-${ACCOUNT}`, 10)]);
  });

  test('entries come page by page, each once, while new ones arrive', async () => {
    await world.fund(0);
    await world.fund(50, 'acc2');
    for (const index of range(7)) await world.ledger.post(posting(`p${index}`, 1, { at: START + index }));
    const read = await pages(
      (page) => world.ledger.entries(ACCOUNT, page),
      3,
      (turn) => world.ledger.post(posting(`late${turn}`, 1, { at: START + SECOND + turn })),
    );
    assert.deepEqual(read, [['p6', 'p5', 'p4'], ['p3', 'p2', 'p1'], ['p0']]);
  });

  test('entries of one moment come by id, and a page never ends in an empty one', async () => {
    await world.fund(0);
    for (const id of ['p3', 'p1', 'p4', 'p2']) await world.ledger.post(posting(id, 1));
    const read = await pages((page) => world.ledger.entries(ACCOUNT, page), 2);
    assert.deepEqual(read, [
      ['p4', 'p3'],
      ['p2', 'p1'],
    ]);
  });
}
