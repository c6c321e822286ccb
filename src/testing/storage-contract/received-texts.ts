import assert from 'node:assert/strict';
import { EventLog } from '../../events/event-log.js';
import { ReceivedSmsStore, type ReceivedText } from '../../sms/inbound/received-sms-store.js';
import { ACCOUNT, aSend, phone, range, SECOND, START } from './fixtures.js';
import type { TestRunner } from './test-runner.js';
import type { World } from './world.js';

const HOUR = 3600 * SECOND;

/** A text that belongs to `ACCOUNT`, known by its index for an hour, changed by `over`. */
export function aReceivedText(index: number, over: Partial<ReceivedText> = {}, accounts = [ACCOUNT]): ReceivedText {
  const id = `text-${String(index).padStart(6, '0')}`;
  const received_at = new Date(START).toISOString();
  const data = { id, from: phone(index), to: '888', text: 'Bonjour', truncated: false, received_at };
  return {
    id,
    name: `name-${index}`,
    expiresAt: START + HOUR,
    events: accounts.map((accountId) => ({ type: 'sms.received', accountId, at: START, data })),
    ...over,
  };
}

export function receivedTextTests({ test }: TestRunner, world: World): void {
  const log = () => world.storage.store(EventLog);
  const store = () => world.storage.store(ReceivedSmsStore);
  const logged = async (accountId = ACCOUNT) =>
    (await log().read({ accountId, after: 0, limit: 100 })).events.map(({ data }) => 'id' in data && data.id);

  test('a text is new once, and is an event of each of its accounts', async () => {
    for (const account of [ACCOUNT, 'acc2']) {
      await world.fund(0, account);
      await log().switchOn(account, START);
    }
    assert.deepEqual(await store().receive([aReceivedText(1, {}, [ACCOUNT, 'acc2'])], START), [true]);
    assert.deepEqual(await store().receive([aReceivedText(2, { name: 'name-1' }), aReceivedText(3)], START), [
      false,
      true,
    ]);
    assert.deepEqual(await logged(), ['text-000001', 'text-000003']);
    assert.deepEqual(await logged('acc2'), ['text-000001']);
    assert.deepEqual(await store().receive([], START), []);
  });

  test('of two repeats in one batch the first is new', async () => {
    await world.fund(0);
    await log().switchOn(ACCOUNT, START);
    assert.deepEqual(await store().receive([aReceivedText(1), aReceivedText(2, { name: 'name-1' })], START), [
      true,
      false,
    ]);
    assert.deepEqual(await logged(), ['text-000001']);
  });

  test('a text of no account is remembered too', async () => {
    assert.deepEqual(await store().receive([aReceivedText(1, {}, [])], START), [true]);
    assert.deepEqual(await store().receive([aReceivedText(2, { name: 'name-1' }, [])], START), [false]);
  });

  test('a name that has expired is new again, whether it was purged or not', async () => {
    const receive = async (index: number, at: number) =>
      (await store().receive([aReceivedText(index, { name: 'n', expiresAt: at + HOUR })], at))[0];
    assert.deepEqual([await receive(1, START), await receive(2, START + HOUR - 1)], [true, false]);
    assert.deepEqual([await receive(3, START + HOUR), await receive(4, START + HOUR + 1)], [true, false]);
    assert.equal(await store().purge(START + 2 * HOUR - 1, 10), 0);
    assert.equal(await store().purge(START + 2 * HOUR, 10), 1);
    assert.equal(await receive(5, START + HOUR + 2), true);
  });

  test('they are purged so many at a time', async () => {
    await store().receive(
      range(5).map((index) => aReceivedText(index)),
      START,
    );
    assert.deepEqual(await Promise.all([2, 10].map((limit) => store().purge(START - 1, limit))), [0, 0]);
    assert.equal(await store().purge(START + HOUR, 2), 2);
    assert.equal(await store().purge(START + HOUR, 10), 3);
  });

  test('the last who wrote to a number under a signature is found, since a moment', async () => {
    for (const account of [ACCOUNT, 'acc2', 'acc3']) await world.fund(10, account);
    const number = phone(1);
    const to = (index: number, accountId: string, sender: string, at: number) =>
      aSend(index, { accountId, sender, at, recipients: [{ number, units: 1 }] });
    await world.accept(
      to(1, ACCOUNT, 'INFOS', START),
      to(2, 'acc2', 'INFOS', START + 1),
      to(3, 'acc3', 'OTHER', START + 2),
    );
    await world.accept(to(4, ACCOUNT, 'INFOS', START - HOUR));
    const find = (signatures: readonly string[], since = 0, who = number) =>
      store().lastWriter({ number: who, signatures, since });
    assert.equal(await find(['INFOS']), undefined, 'nothing has reached the phone yet');
    const arrived = [1, 2, 3, 4].map((index) => aSend(index).id);
    await world.outbox.settle(
      arrived.map((messageId) => ({ messageId, position: 0, status: 'delivered' as const, at: START + 9 })),
    );
    const refused = { ...to(5, 'acc3', 'INFOS', START + 8), recipients: [{ number, units: 0, refused: 'opted_out' }] };
    await world.accept(refused);
    assert.equal(await find(['INFOS']), 'acc2');
    assert.equal(await find(['INFOS', 'OTHER']), 'acc3');
    assert.equal(await find(['infos']), undefined);
    assert.equal(await find(['INFOS'], START + 2), undefined);
    assert.equal(await find(['INFOS'], START + 1), 'acc2');
    assert.equal(await find(['INFOS'], 0, phone(2)), undefined);
  });

  test('the last who wrote to a phone is found, whichever spelling of its number was used', async () => {
    for (const [index, accountId] of [ACCOUNT, 'acc2'].entries()) {
      await world.fund(10, accountId);
      const number = ['22997000001', '2290197000001'][index] ?? '';
      await world.accept(aSend(index, { accountId, at: START + index, recipients: [{ number, units: 1 }] }));
      await world.outbox.settle([{ messageId: aSend(index).id, position: 0, status: 'delivered', at: START + 9 }]);
    }
    for (const number of ['22997000001', '2290197000001']) {
      assert.equal(await store().lastWriter({ number, signatures: ['INFOS'], since: 0 }), 'acc2');
    }
    assert.equal(await store().lastWriter({ number: '22997000002', signatures: ['INFOS'], since: 0 }), undefined);
  });
}
