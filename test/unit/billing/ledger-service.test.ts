import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { LedgerService, type PostingOptions } from '../../../src/billing/ledger-service.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import type { PageRequest } from '../../../src/common/listing/page.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, messageId } from '../../contract/storage/fixtures.js';
import { pages } from '../../contract/storage/outbox/listing.js';
import { StorageFixture } from '../../contract/storage/storage-fixture.js';
import { openSqlite } from '../../support/databases/sql-harness.js';
import { harnessOf, SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { eventPublisher } from '../../support/events/event-publisher.js';

describe.each([
  { storage: 'memory', open: async () => harnessOf(await SqliteMemory.open()) },
  { storage: 'SQLite', open: openSqlite },
])('the operator’s ledger ($storage)', ({ open }) => {
  const world = new StorageFixture();
  let clock: FakeClock;
  let ledger: LedgerService;

  beforeEach(async () => {
    await world.open(open);
    clock = new FakeClock();
    ledger = new LedgerService(world.ledger, clock, new UuidGenerator(), eventPublisher());
    await world.fund(0);
    await world.fund(0, 'acc2');
  });
  afterEach(() => world.close());

  const taken = (reference: string) => ({ code: 'error.reference_taken', values: { reference } });
  const shown = async () => (await ledger.entries(ACCOUNT)).items.map(({ id, kind, units }) => ({ id, kind, units }));

  test('a reference is posted once, and a repeat answers the balance', async () => {
    expect(await ledger.topUp(ACCOUNT, 10, { reference: 'inv-1', note: 'paid' })).toBe(10);
    expect(await ledger.topUp(ACCOUNT, 10, { reference: 'inv-1' })).toBe(10);
    expect(await ledger.adjust(ACCOUNT, -1, { reference: 'inv-2' })).toBe(9);
    expect(await ledger.adjust(ACCOUNT, -1, { reference: 'inv-2' })).toBe(9);
    await world.holds(9);
  });

  test('a reference that was used for another posting is refused, and nothing is posted', async () => {
    await ledger.topUp(ACCOUNT, 10, { reference: 'inv-1' });
    const reference = 'inv-1';
    await expect(ledger.topUp(ACCOUNT, 11, { reference })).rejects.toMatchObject(taken(reference));
    await expect(ledger.adjust(ACCOUNT, 10, { reference })).rejects.toMatchObject(taken(reference));
    await expect(ledger.topUp('acc2', 10, { reference })).rejects.toMatchObject(taken(reference));
    await world.holds(10);
    await world.holds(0, 'acc2');
  });

  test('without a reference, each posting is a new one', async () => {
    await ledger.topUp(ACCOUNT, 10);
    expect(await ledger.topUp(ACCOUNT, 10)).toBe(20);
    expect((await shown()).map(({ id }) => id)).toEqual(Array(2).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
  });

  test('a goodwill credit under the id of an SMS is posted once, and both lines show that id', async () => {
    await ledger.topUp(ACCOUNT, 10, { reference: 'inv-1' });
    await world.accept(aSend(1, { at: clock.now() + 1 }));
    clock.advance(2);
    expect(await ledger.topUp(ACCOUNT, 1, { reference: messageId(1) })).toBe(10);
    expect(await ledger.topUp(ACCOUNT, 1, { reference: messageId(1) })).toBe(10);
    const booked = [
      { id: messageId(1), kind: 'topup', units: 1 },
      { id: messageId(1), kind: 'charge', units: -1 },
      { id: 'inv-1', kind: 'topup', units: 10 },
    ];
    expect(await shown()).toEqual(booked);
    const ids = booked.map(({ id }) => [id]);
    const page = ({ limit, after }: PageRequest) => ledger.entries(ACCOUNT, { limit, ...(after && { after }) });
    expect(await pages(page, 1)).toEqual(ids);
    await world.sound();
  });

  test('a posting under the id of a later refund does not prevent that refund', async () => {
    await ledger.topUp(ACCOUNT, 10, { reference: `${messageId(1)}:0` });
    await world.accept(aSend(1));
    await world.claim();
    await world.settle(messageId(1), 'failed', { attempt: 1 });
    expect(await ledger.topUp(ACCOUNT, 10, { reference: `${messageId(1)}:0` })).toBe(10);
    await world.holds(10);
  });

  test.each(['', 'x'.repeat(65), 'a\0b', '\ud800', 'a\udc00'])('refuses %j as a reference', async (reference) => {
    await expect(ledger.topUp(ACCOUNT, 1, { reference })).rejects.toMatchObject({ code: 'error.field_invalid' });
  });

  test.each<[string, unknown, object]>([
    ['a reference that is a number', { reference: 7 }, { code: 'error.field_not_string' }],
    ['a note that is not a string', { note: ['paid'] }, { code: 'error.field_not_string' }],
    ['a note that cannot be stored', { note: 'a\0b' }, { code: 'error.field_invalid' }],
    ['an unknown option', { ref: 'inv-1' }, { message: expect.stringContaining('Option ref of a posting') }],
    [
      'a transaction in the wrong place',
      { manager: {} },
      { message: expect.stringContaining('{ host: { manager } }') },
    ],
  ])('%s is refused, and nothing is posted', async (_, options, error) => {
    await expect(ledger.topUp(ACCOUNT, 10, options as PostingOptions)).rejects.toMatchObject(error);
    await world.holds(0);
  });

  test('a reference may have up to 64 characters', async () => {
    expect(await ledger.topUp(ACCOUNT, 1, { reference: 'é'.repeat(64) })).toBe(1);
    expect(await shown()).toEqual([{ id: 'é'.repeat(64), kind: 'topup', units: 1 }]);
  });
});
