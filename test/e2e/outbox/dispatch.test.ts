import { expect, test } from '@jest/globals';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import type { SmsTransport } from '../../../src/sms/sms-transport.js';
import { checkLedger, countMessages } from '../../support/accounts/money-races.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { CrashBooks } from '../../support/crash/crash-books.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { ask, balanceOf, phoneOf, sendSms, tallyOf } from '../../support/http/sms-client.js';
import { type MessagingApp, OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { GatedTransport } from '../../support/outbox/gated-transport.js';

const opened = closeAfterEach();

function optionsOn(file: SqliteFile, transport?: SmsTransport, dispatch = {}): Partial<MessagingOptions> {
  const sms = transport ? { ...OPTIONS.sms, transport: { useValue: transport } } : OPTIONS.sms;
  return { storage: file.storage(), sms, dispatch };
}

/** Sends `count` SMS at once. */
async function sendSome(app: MessagingApp, count: number): Promise<void> {
  const answers = Array.from({ length: count }, (_, index) => sendSms(app, { number: [phoneOf(index)] }));
  expect(tallyOf(await Promise.all(answers))).toEqual({ '200': count });
}

/** The number of deliveries in each state. */
async function standing(file: SqliteFile): Promise<Record<string, number>> {
  const books = await CrashBooks.open(`sqlite:${file.path}`);
  try {
    const counts: Record<string, number> = {};
    for (const { status } of await books.deliveries()) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  } finally {
    await books.close();
  }
}

describeOnOneAdapter('delivery', (adapter) => {
  test('close() waits for messages on the wire and stores their results; the rest is delivered after the next start', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport();
    const app = await startMessaging(adapter, optionsOn(file, transport, { batchSize: 5, concurrency: 1 }));
    await sendSome(app, 1);
    await until(() => transport.batches.length === 1);
    await sendSome(app, 8);
    let closed = false;
    const closing = app.close().then(() => {
      closed = true;
    });
    // Sends that come now are stored or refused. One poll later nothing new is on the wire.
    await until(async () => (await standing(file)).queued === 8);
    expect([closed, transport.stopped, transport.batches.length]).toEqual([false, 0, 1]);
    transport.gate.open();
    await closing;
    expect([transport.started, transport.stopped, transport.stoppedEarly]).toEqual([1, 1, false]);
    expect([await standing(file), transport.batches.length]).toEqual([{ delivered: 1, queued: 8 }, 1]);

    opened(await startMessaging(adapter, optionsOn(file)));
    await until(async () => (await standing(file)).delivered === 9);
  });

  test('a result that a transport gives only when it is stopped is stored, however short the shutdown is', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport('open');
    // The id is stored before the state: these are two transactions, and the storage must still be open for the second.
    transport.answer = { kind: 'sent', carrierIds: ['id-1'] };
    const app = await startMessaging(adapter, optionsOn(file, transport, { shutdownMs: 0 }));
    await sendSome(app, 3);
    await until(async () => (await standing(file)).sending === 3);
    await app.close();
    expect(transport.stoppedEarly).toBe(true);
    expect(await standing(file)).toEqual({ sent: 3 });
  });

  test('the result of one SMS is stored while others of its batch are on the wire, and receipts for it are accepted', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport();
    const app = opened(await startMessaging(adapter, optionsOn(file, transport), { units: 10 }));
    await sendSms(app, { number: [0, 1, 2].map(phoneOf) });
    await until(() => transport.batches.length === 1);
    const [first, second] = transport.batches[0] ?? [];
    if (!first || !second) throw new Error('The batch has three SMS.');
    transport.report(first, { kind: 'sent', carrierIds: ['id-1'] });
    transport.report(second, { kind: 'refused', error: 'barred' });
    await until(async () => (await standing(file)).sending === 1);
    expect(await standing(file)).toEqual({ sent: 1, failed: 1, sending: 1 });
    expect(await balanceOf(app)).toBe(8);
    await transport.sink?.receipts([{ route: 'gated', ids: ['id-1'], status: 'delivered' }]);
    expect(await standing(file)).toEqual({ delivered: 1, failed: 1, sending: 1 });
    transport.gate.open();
    await until(async () => (await standing(file)).sending === undefined);
    expect(await standing(file)).toEqual({ delivered: 2, failed: 1 });
    expect(await checkLedger([app])).toEqual([]);
  });

  test('an SMS that must be tried again is still shown as being sent, because states only move forward', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport();
    const app = opened(await startMessaging(adapter, optionsOn(file, transport, { pollMs: 10 })));
    const { body } = await sendSms(app, { number: [phoneOf(0)] });
    const recipient = async () => (await ask(app, `api/v1/sms/${body.smsID}`)).body.recipients;
    await until(() => transport.batches.length === 1);
    expect(await recipient()).toMatchObject([{ status: 'sending', error: null }]);
    transport.answer = { kind: 'retry', error: 'busy' };
    transport.gate.open();
    await until(async () => (await standing(file)).queued === 1);
    expect(await recipient()).toMatchObject([{ status: 'sending', error: 'busy' }]);
  });

  test('if delivery is switched off, this process accepts and never delivers, and another one on the same database does', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport();
    transport.gate.open();
    const app = opened(await startMessaging(adapter, { ...optionsOn(file, transport, { pollMs: 10 }), role: 'api' }));
    await sendSome(app, 5);
    opened(await startMessaging(adapter, optionsOn(file)));
    await until(async () => (await standing(file)).delivered === 5);
    expect(await countMessages(app)).toBe(5);
    expect([transport.started, transport.batches, transport.stopped]).toEqual([0, [], 0]);
    expect(await standing(file)).toEqual({ delivered: 5 });
  });
});
