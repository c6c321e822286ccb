import { afterEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { until } from '../../support/common/until.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { startMessaging } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';
import { Receiver } from '../../support/webhooks/receiver.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Made {
  readonly id: string;
  readonly secret: string;
}

describeOnOneAdapter('calls of webhooks', (adapter) => {
  async function start() {
    const receiver = await Receiver.open();
    closing.push(() => receiver.close());
    const running = await startMessaging(adapter, { webhooks: { pepper: PEPPER, allow: 'loopback' } });
    closing.push(() => running.close());
    const client = new ApiClient(`${running.url}/api/v1`, running.accountId, running.key);
    const topUp = (units: number) => running.app.get(LedgerService, { strict: false }).topUp(client.accountId, units);
    const { body } = await client.post('webhooks', { url: receiver.url });
    return { receiver, client, topUp, made: body as Made };
  }

  test('a committed event is sent, signed, and listed', async () => {
    const { receiver, client, topUp, made } = await start();
    await topUp(7);
    await until(() => receiver.calls.length === 1);
    const [call] = receiver.calls;
    const event = new Webhook(made.secret).verify(String(call?.body), { ...call?.headers } as Record<string, string>);
    expect(event).toMatchObject({ type: 'balance.topped_up', sequence: 1, previous: null, data: { units: 7 } });
    const attempts = () => client.call(`webhooks/${made.id}/attempts`);
    await until(async () => ((await attempts()).body as { items: unknown[] }).items.length === 1);
    expect((await client.call('events')).body).toMatchObject({ items: [event] });
  });

  test('a test, a retry and a replay are calls too', async () => {
    const { receiver, client, topUp, made } = await start();
    const test = await client.post(`webhooks/${made.id}/test`, {});
    expect(test).toMatchObject({ status: 200, body: { status: 200, ms: null, response: null } });
    await topUp(7);
    await until(() => receiver.calls.length === 2);
    await until(async () => {
      const { body } = await client.call(`webhooks/${made.id}`);
      return (body as { last_sequence: number }).last_sequence === 1;
    });
    expect((await client.post(`webhooks/${made.id}/attempts/1/retry`, {})).status).toBe(200);
    await until(() => receiver.calls.length === 3);
    expect((await client.post(`webhooks/${made.id}/replay`, {})).body).toEqual({ events: 1 });
    await until(() => receiver.calls.length === 4);
    expect(receiver.sequences).toEqual([null, 1, 1, 1]);
  });
});
