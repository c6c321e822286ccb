import { expect, test } from '@jest/globals';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventNumbering } from '../../../src/events/event-numbering.js';
import { decide } from '../../../src/outbox/accept/decide.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { ACCOUNT, aSend, messageId, START } from '../../contract/storage/fixtures.js';
import { StorageFixture } from '../../contract/storage/storage-fixture.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { harnessOf, SqliteMemory } from '../../support/databases/sqlite-memory.js';

const opened = closeAfterEach();
const OUT = { number: '22670000001', units: 0, refused: 'opted_out' };

/**
 * A process that numbers marks, on a storage in which an account records events. `other` is the storage of another
 * process.
 */
async function start() {
  const storage = await SqliteMemory.open();
  const world = new StorageFixture();
  await world.open(async () => harnessOf(storage));
  opened({ close: () => world.close() });
  const [clock, notifier] = [new FakeClock(), new LocalNotifier()];
  const log = world.storage.store(EventLog);
  await world.fund(100);
  await log.switchOn(ACCOUNT, START);
  const notified: string[] = [];
  notifier.listen('event', (id) => notified.push(id));
  const numbering = new EventNumbering(log, notifier, clock, new Rounds(clock));
  numbering.onApplicationBootstrap();
  opened({ close: () => numbering.onApplicationShutdown() });
  await settled();
  const last = async () => (await log.state(ACCOUNT)).last;
  return { world, clock, notified, last, numbering, other: await storage.another() };
}

test('marks of this process are numbered at once', async () => {
  const { world, last } = await start();
  await world.accept(aSend(1, { recipients: [OUT] }));
  await settled(20);
  expect(await last()).toBe(2);
});

test('marks that another process left behind are numbered after a second', async () => {
  const { clock, last, other } = await start();
  await other.store(OutboxStore).commit([aSend(1, { recipients: [OUT] })], decide);
  await settled(20);
  expect(await last()).toBe(0);
  await clock.advance(1000);
  await settled(20);
  expect(await last()).toBe(2);
});

test('the other processes are notified of an account once in 20 ms, and at the end', async () => {
  const { world, clock, notified, numbering } = await start();
  for (const index of [1, 2, 3]) await world.accept(aSend(index));
  await world.claim();
  const settle = (index: number) =>
    world.outbox.settle([{ messageId: messageId(index), position: 0, status: 'delivered', at: START }]);
  await settle(1);
  await settle(2);
  expect(notified).toEqual([]);
  await clock.advance(20);
  expect(notified).toEqual([ACCOUNT]);
  await settle(3);
  await numbering.onApplicationShutdown();
  expect(notified).toEqual([ACCOUNT, ACCOUNT]);
});
