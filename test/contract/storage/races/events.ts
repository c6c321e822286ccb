import assert from 'node:assert/strict';
import { SECOND_MS } from '../../../../src/common/time.js';
import { EventLog } from '../../../../src/events/event-log.js';
import type { Metadata } from '../../../../src/events/events.api.js';
import { decide } from '../../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../../src/outbox/outbox-store.js';
import type { MessagingStorage } from '../../../../src/storage/messaging-storage.js';
import { aSend, messageId, phone, range, recipients, START } from '../fixtures.js';
import type { StorageFixture } from '../storage-fixture.js';
import { atOnce, type Race } from './race.js';

const ACCOUNTS = range(6).map((index) => `acc-${index}`);
const BATCHES = 12;

/**
 * Accounts that record, each with this many claimed deliveries. The message of an index belongs to the account of that
 * index.
 */
async function sending(
  world: StorageFixture,
  accounts: readonly string[],
  count: number,
  metadata?: Metadata,
): Promise<void> {
  for (const [index, id] of accounts.entries()) {
    await world.fund(count + 100, id);
    await world.storage.store(EventLog).switchOn(id, START);
    await world.accept(aSend(index, { accountId: id, recipients: recipients(count), metadata }));
  }
  await world.claim({ limit: accounts.length * count });
}

/** The numbers of an account's events, up to the last one in its state. */
async function numbersOf(storage: MessagingStorage, accountId: string): Promise<readonly number[]> {
  const { events } = await storage.store(EventLog).read({ accountId, after: 0, limit: 10_000 });
  return events.map(({ sequence }) => sequence);
}

/** Asserts that numbers count from 1 without a gap. */
function gapFree(numbers: readonly number[]): void {
  assert.deepEqual(
    numbers,
    range(numbers.length).map((index) => index + 1),
  );
}

/** Races for numbers of the log: each event gets one, the next. */
export const EVENT_RACES: Readonly<Record<string, Race>> = {
  'batches over the same accounts in opposite orders at once: each event is there once, and no number is ever missing':
    async (world, hand) => {
      await sending(world, ACCOUNTS, BATCHES);
      let done = false;
      const settling = atOnce(BATCHES, (position) => {
        const updates = ACCOUNTS.map((_, index) => {
          const status = position % 3 === 0 ? ('failed' as const) : ('delivered' as const);
          return { messageId: messageId(index), position, status, at: START + SECOND_MS };
        });
        return hand(position)
          .store(OutboxStore)
          .settle(position % 2 === 0 ? updates : updates.reverse());
      }).finally(() => {
        done = true;
      });
      // A reader that passes a number before its event is committed would never see that event.
      const reading = async () => {
        while (!done) {
          for (const id of ACCOUNTS) gapFree(await numbersOf(hand(1), id));
          await new Promise(setImmediate);
        }
      };
      await Promise.all([settling, reading()]);
      for (const id of ACCOUNTS) {
        const { events } = await world.storage.store(EventLog).read({ accountId: id, after: 0, limit: 1000 });
        gapFree(events.map(({ sequence }) => sequence));
        const positions = events.flatMap(({ data }) => ('position' in data ? [data.position] : []));
        assert.deepEqual(
          positions.sort((a, b) => a - b),
          range(BATCHES),
        );
        assert.deepEqual(events.at(-1)?.type, 'send.completed');
        assert.equal(events.length, BATCHES + 1);
      }
      await world.sound();
    },

  '20 recipients of one send at once: it is complete once': async (world, hand) => {
    await sending(world, ['acc-0'], 20);
    const moved = await atOnce(20, (position) => {
      return hand(position)
        .store(OutboxStore)
        .settle([{ messageId: messageId(0), position, status: 'delivered', at: START + SECOND_MS }]);
    });
    const completed = moved.flat().flatMap((transition) => transition.completed ?? []);
    assert.deepEqual(completed, [{ recipients: 20, statuses: { delivered: 20 }, units: 20, refundedUnits: 0 }]);
    gapFree(await numbersOf(world.storage, 'acc-0'));
  },

  'marks numbered 20 times at once: each has one number': async (world, hand) => {
    await sending(world, ['acc-0'], 1);
    const out = { number: phone(1), units: 0, refused: 'opted_out' };
    const refusing = aSend(9, { accountId: 'acc-0', recipients: [...recipients(1), out] });
    await atOnce(10, (index) =>
      hand(index)
        .store(OutboxStore)
        .commit([{ ...refusing, id: `refusing-${index}` }], decide),
    );
    const taken = await atOnce(20, (index) => hand(index).store(EventLog).numberMarks(3));
    let left = taken.reduce((sum, count) => sum + count, 0);
    for (let more = -1; more !== 0; left += more) more = await world.storage.store(EventLog).numberMarks(3);
    assert.equal(left, 10);
    const numbers = await numbersOf(world.storage, 'acc-0');
    gapFree(numbers);
    assert.equal(numbers.length, 10);
  },

  'a log switched on while deliveries are settled: everything stored after that is in it, and each send is completed':
    async (world, hand) => {
      const [id, count] = ['acc-0', 20];
      await world.fund(count, id);
      await world.accept(aSend(0, { accountId: id, recipients: recipients(count) }));
      await world.claim({ limit: count });
      const settle = (position: number) =>
        hand(position)
          .store(OutboxStore)
          .settle([{ messageId: messageId(0), position, status: 'delivered', at: START + SECOND_MS }]);
      const before = atOnce(count / 2, settle);
      await hand(1).store(EventLog).switchOn(id, START);
      await Promise.all([before, atOnce(count / 2, (index) => settle(index + count / 2))]);
      const { events } = await world.storage.store(EventLog).read({ accountId: id, after: 0, limit: 1000 });
      gapFree(events.map(({ sequence }) => sequence));
      const positions = events.flatMap(({ data }) => ('position' in data ? [data.position] : []));
      for (const later of range(count / 2)) assert.ok(positions.includes(later + count / 2));
      assert.equal(events.filter(({ type }) => type === 'send.completed').length, 1);
    },
  'redactions and an erasure of the same events at once: what each has removed stays removed': async (world, hand) => {
    await sending(world, ACCOUNTS, 3, { name: 'Awa' });
    const settled = ACCOUNTS.flatMap((_, index) =>
      range(3).map((position) => ({ messageId: messageId(index), position, status: 'sent' as const, at: START })),
    );
    await world.outbox.settle(settled);
    const log = (index: number) => hand(index).store(EventLog);
    const redactions = [
      () => log(0).redact('texts', START + SECOND_MS, 100),
      () => log(1).redact('numbers', START + SECOND_MS, 100),
      () => log(2).erase(phone(0), ACCOUNTS),
    ];
    await Promise.all(redactions.map((redact) => redact()));
    const pages = ACCOUNTS.map((accountId) => log(0).read({ accountId, after: 0, limit: 10 }));
    const events = (await Promise.all(pages)).flatMap((page) => page.events);
    assert.equal(events.length, ACCOUNTS.length * 3);
    for (const { data } of events) {
      assert.deepEqual(data, { ...data, metadata: null });
      assert.match(String('number' in data && data.number), /^[0-9]*\*{6}[0-9*]*$/);
    }
  },
};
