import assert from 'node:assert/strict';
import type { StatusCallback } from '../../../../src/compat/status-callbacks/status-callback.js';
import { StatusCallbackStore } from '../../../../src/compat/status-callbacks/status-callback-store.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, recipients, START } from '../fixtures.js';
import { kinds, type StorageFixture } from '../storage-fixture.js';

const LEASE = START + 1000;

/** The URLs that want to know the status of messages. */
export function statusCallbackTests({ test }: TestRunner, world: StorageFixture): void {
  const store = () => world.storage.store(StatusCallbackStore);
  const callback = (index: number, since: number): StatusCallback => ({
    messageId: messageId(index),
    accountId: ACCOUNT,
    // Odd messages came through Twilio's door, even ones through Kannel's.
    kind: index % 2 === 1 ? 'twilio' : 'kannel',
    url: 'https://example.com/status?é=1&s=%d',
    sealedKey: index % 2 === 1 ? 'key.nonce.text' : undefined,
    mask: index % 2 === 1 ? 0 : 27,
    since,
    createdAt: START + index,
  });
  /** Accepts sends of one unit with a callback each. */
  const accept = async (...indexes: number[]) => {
    const { last } = await world.events.switchOn(ACCOUNT, START);
    const sends = indexes.map((index) => aSend(index, { step: store().stepOf(callback(index, last)) }));
    assert.deepEqual(
      kinds(await world.commit(...sends)),
      indexes.map(() => 'accepted'),
    );
    return last;
  };
  let events = 0;
  /** Adds events to the account's log: each top-up is one. */
  const happen = async (times: number) => {
    for (let time = 0; time < times; time++) await world.topUp(1, ACCOUNT, `event-${++events}`);
  };

  test('a callback is stored with its send, and not with a refused one', async () => {
    await world.fund(2);
    const last = await accept(1, 2);
    const stored = await store().of([1, 2, 3].map(messageId));
    assert.deepEqual([...stored.values()], [callback(1, last), callback(2, last)]);
    const dear = aSend(3, { recipients: recipients(1, 9), step: store().stepOf(callback(3, last)) });
    assert.deepEqual(kinds(await world.commit(dear)), ['insufficient_balance']);
    assert.deepEqual([...(await store().of([messageId(3)]))], []);
    assert.deepEqual(await store().accounts(), [ACCOUNT]);
  });

  test('one process at a time tells an account, from the first send that waits on', async () => {
    await world.fund(2);
    await world.events.switchOn(ACCOUNT, START);
    await happen(3);
    const last = await accept(1);
    assert.equal(await store().take('a', START, LEASE), undefined);
    await happen(1);
    const taken = await store().take('a', START, LEASE);
    assert.deepEqual(taken, { accountId: ACCOUNT, after: last });
    assert.equal(await store().take('b', START, LEASE), undefined);
    // The lease of a process that was killed ends.
    assert.deepEqual(await store().take('b', LEASE, LEASE + 1000), taken);
    const told = { accountId: ACCOUNT, after: last + 1 };
    assert.equal(await store().advance('a', told, [messageId(1)], 0), false);
    assert.equal((await store().of([messageId(1)])).size, 1);
    assert.equal(await store().advance('b', told, [messageId(1)], 0), true);
    assert.equal((await store().of([messageId(1)])).size, 0);
    await happen(1);
    // Nobody waits any more.
    assert.equal(await store().take('a', START, LEASE), undefined);
  });

  test('old callbacks are removed, a limited number at a time', async () => {
    await world.fund(3);
    await accept(1, 2, 3);
    assert.equal(await store().purge(START + 2, 1), 1);
    assert.equal(await store().purge(START + 2, 9), 1);
    assert.deepEqual([...(await store().of([1, 2, 3].map(messageId))).keys()], [messageId(3)]);
  });
}
