import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import { EventLog } from '../../../../src/events/event-log.js';
import type { Sighting } from '../../../../src/msgapp/contacts/contact.js';
import { ContactStore } from '../../../../src/msgapp/contacts/contact-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, phone, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';

const LINKED = phone(100);

/** What the app says of a person; the contact is `ct_<newId>` if it is new. */
export function aSighting(newId: string, over: Partial<Sighting>): Sighting {
  const scope = { accountId: ACCOUNT, channel: 'wa', linked: LINKED };
  return { ...scope, identity: undefined, number: undefined, newId: `ct_${newId}`, at: START, ...over };
}

export function contactTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(ContactStore);
  const meet = async (newId: string, over: Partial<Sighting>) =>
    (await store().meet([aSighting(newId, over)])).map(({ data }) => data);
  const find = async (id: string) => {
    const found = await store().find(ACCOUNT, `ct_${id}`);
    return found && { id: found.id, identity: found.identity, number: found.number };
  };
  const identified = (id: string, number: string, merged: string | null = null) => ({
    contact: `ct_${id}`,
    channel: 'wa',
    to: LINKED,
    number,
    merged: merged && `ct_${merged}`,
  });

  test('a person is one contact, by the identity or by the number', async () => {
    assert.deepEqual(await meet('a', { identity: 'lid-1', name: 'Awa' }), []);
    assert.deepEqual(await meet('b', { identity: 'lid-1' }), []);
    assert.deepEqual(await meet('c', { number: phone(1) }), []);
    assert.deepEqual(await meet('d', { number: phone(1), name: 'Ali' }), []);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: undefined });
    assert.deepEqual(await find('c'), { id: 'ct_c', identity: undefined, number: phone(1) });
    assert.deepEqual([await find('b'), await find('d')], [undefined, undefined]);
    assert.equal((await store().find(ACCOUNT, 'ct_a'))?.name, 'Awa');
    assert.equal((await store().find(ACCOUNT, 'ct_c'))?.name, 'Ali');
    assert.equal(await store().find('another', 'ct_a'), undefined);
    assert.deepEqual(await meet('e', {}), []);
    assert.equal(await find('e'), undefined);
    assert.deepEqual(await store().meet([]), []);
  });

  test('contacts of two linked numbers, channels and accounts are separate', async () => {
    await meet('a', { identity: 'lid-1' });
    for (const [newId, over] of Object.entries({
      b: { linked: phone(101) },
      c: { channel: 'wb' },
      d: { accountId: 'another' },
    })) {
      await meet(newId, { identity: 'lid-1', ...over });
      const accountId = 'accountId' in over ? over.accountId : ACCOUNT;
      assert.equal((await store().find(accountId, `ct_${newId}`))?.identity, 'lid-1');
    }
  });

  test('the number becomes known, is an event once, and a later message finds the contact by either', async () => {
    await world.fund(0);
    const log = world.storage.store(EventLog);
    await log.switchOn(ACCOUNT, START);
    await meet('a', { identity: 'lid-1' });
    assert.deepEqual(await meet('b', { identity: 'lid-1', number: phone(1) }), [identified('a', phone(1))]);
    assert.deepEqual(await meet('c', { identity: 'lid-1', number: phone(1) }), []);
    assert.deepEqual(await meet('d', { number: phone(1) }), []);
    assert.deepEqual(await meet('e', { identity: 'lid-1' }), []);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: phone(1) });
    assert.deepEqual(await find('d'), undefined);
    const { events } = await log.read({ accountId: ACCOUNT, after: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ type, data }) => [type, data]),
      [['contact.identified', identified('a', phone(1))]],
    );
  });

  test('a new person who shows both is identified in one step', async () => {
    assert.deepEqual(await meet('a', { identity: 'lid-1', number: phone(1) }), [identified('a', phone(1))]);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: phone(1) });
  });

  test('the identity of a number becomes known', async () => {
    await meet('a', { number: phone(1) });
    assert.deepEqual(await meet('b', { identity: 'lid-1', number: phone(1) }), [identified('a', phone(1))]);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: phone(1) });
  });

  test('two contacts turn out to be one person: the one with the identity stays, and both ids work', async () => {
    await meet('n', { number: phone(1), name: 'Awa' });
    await meet('i', { identity: 'lid-1' });
    assert.deepEqual(await meet('x', { identity: 'lid-1', number: phone(1) }), [identified('i', phone(1), 'n')]);
    const joined = { id: 'ct_i', identity: 'lid-1', number: phone(1) };
    assert.deepEqual([await find('n'), await find('i'), await find('x')], [joined, joined, undefined]);
    assert.equal((await store().find(ACCOUNT, 'ct_n'))?.name, 'Awa');
  });

  test('a person changes the number: the contact stays, and the next owner of the old number is another one', async () => {
    await meet('a', { identity: 'lid-1', number: phone(1) });
    assert.deepEqual(await meet('x', { identity: 'lid-1', number: phone(2) }), [identified('a', phone(2))]);
    assert.deepEqual(await meet('b', { number: phone(1) }), []);
    assert.deepEqual(await find('b'), { id: 'ct_b', identity: undefined, number: phone(1) });
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: phone(2) });
  });

  test('a number with another identity has a new owner: the former contact loses it', async () => {
    await meet('a', { identity: 'lid-1', number: phone(1) });
    assert.deepEqual(await meet('b', { identity: 'lid-2', number: phone(1) }), [identified('b', phone(1))]);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: undefined });
    assert.deepEqual(await find('b'), { id: 'ct_b', identity: 'lid-2', number: phone(1) });
    // Both are contacts already, and the number goes back.
    assert.deepEqual(await meet('x', { identity: 'lid-1', number: phone(1) }), [identified('a', phone(1))]);
    assert.deepEqual(await find('b'), { id: 'ct_b', identity: 'lid-2', number: undefined });
  });

  test('several sightings of a person in one batch are taken in their order', async () => {
    const events = await store().meet([
      aSighting('n', { number: phone(1) }),
      aSighting('i', { identity: 'lid-1' }),
      aSighting('x', { identity: 'lid-1', number: phone(1) }),
      aSighting('y', { identity: 'lid-1', number: phone(2) }),
    ]);
    assert.deepEqual(
      events.map(({ data }) => data),
      [identified('i', phone(1), 'n'), identified('i', phone(2))],
    );
    const joined = { id: 'ct_i', identity: 'lid-1', number: phone(2) };
    assert.deepEqual(
      [await find('n'), await find('i'), await find('x'), await find('y')],
      [joined, joined, undefined, undefined],
    );
  });

  test('a mapping of the app joins contacts, and makes none', async () => {
    const mapping = { newId: undefined, identity: 'lid-1', number: phone(1) };
    assert.deepEqual(await meet('-', mapping), []);
    await meet('a', { identity: 'lid-1' });
    assert.deepEqual(await meet('-', mapping), [identified('a', phone(1))]);
    // The number has an owner who has never written.
    assert.deepEqual(await meet('-', { ...mapping, identity: 'lid-2' }), []);
    assert.deepEqual(await find('a'), { id: 'ct_a', identity: 'lid-1', number: undefined });
  });

  test('when a person last wrote is kept to the day', async () => {
    await meet('a', { identity: 'lid-1' });
    await meet('x', { identity: 'lid-1', at: START + DAY_MS - 1 });
    assert.equal(await store().purge(START, 10), 0);
    await meet('x', { identity: 'lid-1', at: START + DAY_MS });
    assert.equal(await store().purge(START + DAY_MS, 10), 0);
    assert.equal(await store().purge(START + DAY_MS + 1, 10), 1);
    assert.equal(await find('a'), undefined);
  });

  test('contacts are purged by age with the contacts that were merged into them', async () => {
    await meet('n', { number: phone(1) });
    await meet('i', { identity: 'lid-1', at: START + DAY_MS });
    await meet('x', { identity: 'lid-1', number: phone(1), at: START + DAY_MS });
    assert.equal(await store().purge(START + DAY_MS, 10), 0);
    assert.equal((await find('n'))?.id, 'ct_i');
    assert.equal(await store().purge(START + DAY_MS + 1, 10), 2);
    // The person is somebody new now.
    await meet('m', { identity: 'lid-1' });
    assert.deepEqual(await find('m'), { id: 'ct_m', identity: 'lid-1', number: undefined });
  });

  test('the contacts of a number are erased over all accounts, and the person is somebody new then', async () => {
    await meet('n', { number: phone(1) });
    await meet('i', { identity: 'lid-1' });
    await meet('x', { identity: 'lid-1', number: phone(1) });
    await meet('o', { accountId: 'another', number: phone(1) });
    await meet('z', { identity: 'lid-2', number: phone(2) });
    const found = await store().ofNumber(phone(1), 10);
    assert.deepEqual([...found].sort(), ['ct_i', 'ct_o']);
    assert.deepEqual([...(await store().namesOf('ct_i'))].sort(), ['ct_i', 'ct_n']);
    for (const id of found) await store().erase(id);
    assert.deepEqual(await store().ofNumber(phone(1), 10), []);
    assert.deepEqual([await find('n'), await find('i'), (await find('z'))?.number], [undefined, undefined, phone(2)]);
    await meet('m', { identity: 'lid-1', number: phone(1) });
    assert.deepEqual(await find('m'), { id: 'ct_m', identity: 'lid-1', number: phone(1) });
  });
}
