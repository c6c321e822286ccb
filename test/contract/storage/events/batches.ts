import assert from 'node:assert/strict';
import { DAY_MS } from '../../../../src/common/time.js';
import type { DeliveryUpdate } from '../../../../src/outbox/delivery-state.js';
import type { TestRunner } from '../../test-runner.js';
import { ACCOUNT, aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { EventsFixture } from './events-fixture.js';

/** So many that a storage may keep several of their events together, and some beside these. */
const MANY = 41;
const LAST = MANY - 1;

export function eventBatchTests({ test }: TestRunner, world: StorageFixture): void {
  const steps = new EventsFixture(world);

  /** One batch, in which each recipient of a send is sent a millisecond after the one before it. */
  async function sentTogether(): Promise<void> {
    await steps.sending(aSend(1, { recipients: recipients(MANY), metadata: { order: '4711' } }));
    const update = { messageId: messageId(1), status: 'sent' } as const;
    await world.outbox.settle(range(MANY).map((position) => ({ ...update, position, at: START + position })));
  }

  test('the events of a large batch are stored unchanged', async () => {
    await sentTogether();
    const data = {
      id: messageId(1),
      channel: 'sms',
      signature: 'INFOS',
      status: 'sent',
      error: null,
      units: 1,
      refunded_units: 0,
      accepted_at: new Date(START).toISOString(),
      metadata: { order: '4711' },
    };
    assert.deepEqual(
      await steps.events(),
      range(MANY).map((position) => ({
        type: 'message.sent',
        accountId: ACCOUNT,
        sequence: position + 1,
        at: START + position,
        data: { ...data, position, number: phone(position) },
      })),
    );
  });

  test('pages of a large batch begin and end anywhere', async () => {
    await sentTogether();
    const numbers = (after: number, end: number) => range(Math.max(0, end - after)).map((index) => after + 1 + index);
    for (const types of [undefined, ['message.sent', 'key.created'] as const]) {
      for (const after of [0, 1, 7, 15, 16, 31, 32, 40, 41]) {
        for (const limit of [1, 10, 16, 30, 100]) {
          const page = { accountId: ACCOUNT, after, limit, types };
          const { events, nextAfter } = await steps.log.read(page);
          const sequences = events.map(({ sequence }) => sequence);
          assert.deepEqual(sequences, numbers(after, Math.min(after + limit, MANY)));
          assert.equal(nextAfter, Math.min(after + limit, MANY));
        }
        const bounded = await steps.log.read({ accountId: ACCOUNT, after, upTo: 20, limit: 100, types });
        const until = bounded.events.map(({ sequence }) => sequence);
        assert.deepEqual([until, bounded.nextAfter], [numbers(after, 20), Math.max(after, 20)]);
        assert.equal(await steps.log.previous(ACCOUNT, after + 1, types), after === 0 ? undefined : after);
      }
    }
    assert.equal(await steps.log.previous(ACCOUNT, 20, ['key.created']), undefined);
    assert.deepEqual(await steps.numbers(['key.created'], 0), []);
  });

  test('in a large batch each send ends after the events of its recipients, and each delivery moves forward', async () => {
    await steps.sending(...range(MANY).map((index) => aSend(index)));
    const outcomes = ['delivered', 'failed', 'undelivered'] as const;
    const update = (message: number, status: DeliveryUpdate['status']): DeliveryUpdate => ({
      messageId: messageId(message),
      position: 0,
      status,
      at: START,
    });
    const first = range(20).flatMap((message) => [update(message, 'sent'), update(message, 'delivered')]);
    await world.outbox.settle([update(LAST, 'delivered'), ...first, update(20, 'sent')]);
    const others = range(LAST - 20).map((index) => 20 + index);
    await world.outbox.settle(others.map((message) => update(message, outcomes[message % 3] ?? 'failed')));
    const published = (await steps.events()).map(({ type, data }) => [type, 'id' in data ? data.id : '']);
    for (const message of range(MANY)) {
      const own = published.filter(([, id]) => id === messageId(message)).map(([type]) => type);
      const outcome = message < 20 || message === LAST ? 'delivered' : (outcomes[message % 3] ?? 'failed');
      const sent = message <= 20 ? ['message.sent'] : [];
      assert.deepEqual(own, [...sent, `message.${outcome}`, 'send.completed']);
    }
  });

  test('a purge removes a large batch step by step, and no young event', async () => {
    await sentTogether();
    for (let removed = 100; removed >= 100; ) removed = await steps.log.purge(START + 20, 100);
    const { earliest } = await steps.log.state(ACCOUNT);
    assert.ok(earliest > 1 && earliest <= 21, `kept from ${earliest}`);
    const [first] = await steps.events();
    assert.equal(first?.sequence, earliest);
    let all = earliest - 1;
    for (let removed = 3; removed >= 3; all += removed) removed = await steps.log.purge(START + DAY_MS, 3);
    assert.equal(all, MANY);
    assert.deepEqual(await steps.state(), { last: MANY, earliest: MANY + 1, recording: true });
  });

  test('one number of a large batch is erased, and after a time all are masked', async () => {
    await sentTogether();
    const before = await steps.events();
    assert.equal(await steps.log.erase(phone(3), [ACCOUNT]), 1);
    assert.equal(await steps.log.erase(phone(3), [ACCOUNT]), 0);
    const after = await steps.events();
    const masked = { ...before[3]?.data, number: '*'.repeat(phone(3).length), metadata: null };
    assert.deepEqual(
      after.map(({ data }) => data),
      before.map(({ data }, index) => (index === 3 ? masked : data)),
    );
    for (let read = 5; read >= 5; ) read = await steps.log.redact('numbers', START + MANY, 5);
    for (const { data } of await steps.events()) assert.match('number' in data ? String(data.number) : '', /\*/);
  });
}
