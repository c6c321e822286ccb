import { expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startManage } from '../../support/management/manage-app.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { describeService } from '../../support/mounting/services.js';
import { MSGAPP, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/outbox/scripted-transport.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

unmountAfterEach();

const SMS = { signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] };
const EXPIRED = { status: 'failed', error: 'expired', refunded_units: 1 };

describeOnOneAdapter('the end of a validity while nothing is handed over', (adapter) => {
  /** Sends an SMS that is valid for a minute, and waits until it has expired. */
  async function expires(client: ApiClient, clock: FakeClock): Promise<void> {
    const before = await client.balance();
    // The first read switches the account's log on.
    await client.call('events');
    const { smsID } = await client.sent({ ...SMS, valid_for: 60 });
    const sent = clock.now();
    const stands = async () => (await client.details(smsID)).recipients[0];
    const last = await eventually(stands, (recipient) => recipient?.status === 'failed', { clock, stepMs: 1000 });
    expect(last).toMatchObject(EXPIRED);
    expect(clock.now() - sent).toBeGreaterThanOrEqual(60_000);
    expect(await client.balance()).toBe(before);
    const { body } = await client.call('events?types=message.failed');
    expect(body).toMatchObject({ items: [{ data: { error: 'expired', refunded_units: 1 } }] });
  }

  async function start() {
    const carrier = new ScriptedTransport();
    const sms = { ...OPTIONS.sms, transport: { useValue: carrier } };
    const world = await startManage(adapter, { sms, webhooks: { pepper: WEBHOOK_PEPPER, allow: 'loopback' } });
    return { ...world, carrier, client: await clientOf(world) };
  }

  test('in a paused queue it is expired, refunded and published', async () => {
    const { operator, client, clock, carrier } = await start();
    await operator.done('manage/queue/pause', { channel: 'sms' });
    await expires(client, clock);
    expect(carrier.taken).toEqual([]);
  });

  test('if every route rests, too', async () => {
    const { operator, client, clock, carrier } = await start();
    await operator.done(`manage/carriers/${carrier.name}/rest`);
    await expires(client, clock);
    expect(carrier.taken).toEqual([]);
  });

  test('if the carrier takes nothing, too', async () => {
    const { client, clock, carrier } = await start();
    carrier.answer = () => ({ kind: 'postponed', error: 'down', until: clock.now() + 3_600_000 });
    await expires(client, clock);
  });
});

describeService('the end of a validity while a number is not linked', (start) => {
  test('it is expired and refunded', async () => {
    const clock = new FakeClock();
    const service = await startMsgapp(start, { clock: { useValue: clock }, msgapp: MSGAPP });
    const client = await msgappClient(service);
    const session = await client.link('22670000100');
    const send_at = new Date(clock.now() + 3_600_000).toISOString();
    const { body } = await client.text({ to: '22670000001', body: 'x', send_at, valid_for: 60 });
    await client.logout(session);
    const read = () => client.message((body as { messageID: string }).messageID);
    const last = await eventually(read, ({ status }) => status === 'failed', { clock, stepMs: 60_000 });
    expect(last).toMatchObject(EXPIRED);
    expect(await client.api.balance()).toBe(1000);
  });
});
