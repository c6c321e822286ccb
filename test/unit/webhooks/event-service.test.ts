import { expect, test } from '@jest/globals';
import { AccountStore } from '../../../src/accounts/account-store.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { EventViews } from '../../../src/webhooks/event-view.js';
import { EventArrivals } from '../../../src/webhooks/feed/event-arrivals.js';
import { EventCursors } from '../../../src/webhooks/feed/event-cursor.js';
import { EventService } from '../../../src/webhooks/feed/event-service.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';
import { delivered, logEvents } from '../../support/events/logged-events.js';

const SETTINGS = resolveWebhookSettings({ pepper: 'a pepper for tests, 0123456789 abcdef' });

/** A service on a log. The test can see each read. */
async function serviceOn(seeRead: (log: EventLog, reads: number) => Promise<void> = async () => {}) {
  const storage = new MemoryStorage();
  await storage.start();
  await storage.store(AccountStore).createAccount({ id: 'demo', name: 'Demo', createdAt: 0 });
  const log = storage.store(EventLog);
  const read = log.readStored.bind(log);
  let reads = 0;
  log.readStored = async (query) => {
    const page = await read(query);
    await seeRead(log, ++reads);
    return page;
  };
  const clock = new FakeClock();
  const arrivals = new EventArrivals(log, new LocalNotifier(), clock);
  arrivals.onModuleInit();
  const service = new EventService(new EventCursors(new EventViews(log, SETTINGS), log, clock), arrivals, log, clock);
  return { service, log, storage, arrivals, reads: () => reads };
}

test('an event that is stored just after a read is delivered without a wait', async () => {
  const { service, storage } = await serviceOn(async (log, reads) => {
    if (reads === 1) await logEvents(log, [delivered('demo')]);
  });
  // The clock stands still, so only the arrival can wake the reader.
  const { items } = await service.read('demo', { wait: 25 });
  expect(items.map(({ sequence }) => sequence)).toEqual([1]);
  await storage.stop();
});

test('a listener gets every event once, in whatever way they arrive', async () => {
  const { service, log, storage, arrivals } = await serviceOn(async (each, reads) => {
    if (reads % 3 === 0 && reads < 40) await logEvents(each, [delivered('demo', reads)]);
  });
  await service.switchOn('demo');
  const storing = (async () => {
    for (let batch = 0; batch < 30; batch++) {
      await logEvents(
        log,
        Array.from({ length: 7 }, () => delivered('demo')),
      );
      await new Promise(setImmediate);
    }
  })();
  const heard: number[] = [];
  for await (const { sequence } of service.listen('demo')) {
    heard.push(sequence);
    if (heard.length === 210) break;
  }
  expect(heard).toEqual(Array.from({ length: 210 }, (_, at) => at + 1));
  await storing;
  expect(Reflect.get(arrivals, 'byAccount')).toEqual(new Map());
  await storage.stop();
});

test('an unknown type and an empty list of types are refused', async () => {
  const { service, storage } = await serviceOn();
  const read = (types: unknown) => Reflect.apply(service.read, service, ['demo', { types }]);
  await expect(read(['message.lost'])).rejects.toMatchObject({ code: 'error.event_type_unknown' });
  await expect(read([])).rejects.toMatchObject({ code: 'error.field_invalid' });
  await storage.stop();
});
