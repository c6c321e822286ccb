import { SystemClock } from '../../../src/common/clock.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { UuidGenerator } from '../../../src/common/ids.js';
import { LocalNotifier } from '../../../src/common/notifier.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventRecorder } from '../../../src/events/event-recorder.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { resolveDispatchSettings } from '../../../src/outbox/delivery/dispatch-options.js';
import { dataSourceFor } from '../../../src/storage/engine/data-source.js';
import { databaseFor } from '../../../src/storage/engine/database-for.js';
import { CallCursor } from '../../../src/webhooks/calls/call-progress.js';
import { CallStore } from '../../../src/webhooks/calls/call-store.js';
import { WebhookHttp } from '../../../src/webhooks/calls/http/webhook-http.js';
import { CallSettings, WebhookDispatcher } from '../../../src/webhooks/calls/webhook-dispatcher.js';
import { EndpointSecrets } from '../../../src/webhooks/endpoints/endpoint-secret.js';
import { WebhookTargets } from '../../../src/webhooks/endpoints/webhook-targets.js';
import { EventViews } from '../../../src/webhooks/event-view.js';
import { resolveWebhookSettings } from '../../../src/webhooks/webhook-options.js';
import type { CallOrder } from './call-process.js';

const order: CallOrder = JSON.parse(process.env.ORDER ?? '{}');
const { database, account, naive = false, records } = order;

if (naive) {
  const add = CallCursor.prototype.add;
  CallCursor.prototype.add = function (upTo, events) {
    const span = add.call(this, upTo, events);
    this.settle(span);
    return span;
  };
}

const source = await dataSourceFor(database);
await source.initialize();
const storage = new TypeormStorage({ database: source });
await storage.start();
const clock = new SystemClock();
const ids = new UuidGenerator();
const notifier = new LocalNotifier();
const settings = resolveWebhookSettings({ pepper: 'a pepper of the tests: 7d1Qm0xHcV2u', allow: 'loopback' });
const log = storage.store(EventLog);
const dispatcher = new WebhookDispatcher(
  storage.store(CallStore),
  log,
  new EventViews(log, settings),
  new WebhookHttp(new WebhookTargets(settings), clock),
  new EndpointSecrets(settings.keys),
  notifier,
  clock,
  ids,
  resolveDispatchSettings({ shutdownMs: 5000 }, 'worker'),
  Object.assign(new CallSettings(), { leaseMs: order.leaseMs }),
  new Rounds(clock),
);
dispatcher.onApplicationBootstrap();

const recorder = new EventRecorder(await databaseFor(source));
const data = { number: '22670000000', signature: 'INFOS', source: 'phone' } as const;
let isRecording = records;

async function record(): Promise<void> {
  while (isRecording) {
    try {
      await recorder.write(
        // biome-ignore lint/correctness/useYield: it stores nothing but its events
        function* ({ publish }) {
          for (let index = 0; index < 5; index++) {
            publish({ type: 'optout.added', accountId: account, at: clock.now(), data });
          }
        },
      );
      notifier.publish('event', account);
    } catch {
      // The database is being restarted.
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
const recording = record();
process.on('message', async () => {
  isRecording = false;
  await recording;
  process.send?.('quiet');
});
process.on('SIGTERM', async () => {
  isRecording = false;
  await recording;
  await dispatcher.beforeApplicationShutdown();
  await storage.stop();
  process.exit(0);
});
process.stdout.write('READY\n');
