import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MessagingClient, verifyWebhook, type WebhookEvent } from '../../../src/client/index.js';
import { until } from '../../support/common/until.js';
import { delivered, logEventsOf, verified } from '../../support/events/logged-events.js';
import { type MessagingApp, startMessaging } from '../../support/mounting/messaging-app.js';
import { PEPPER } from '../../support/otp/otp-app.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let app: MessagingApp;
let client: MessagingClient;
let receiver: Server;
let url: string;
let received: Received[] = [];

beforeAll(async () => {
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  app = await startMessaging('express', { webhooks: { pepper: PEPPER, allow: 'loopback' } });
  client = new MessagingClient({ baseUrl: `${app.url}/api/v1`, apiKey: app.key });
});

beforeEach(() => {
  received = [];
});

afterAll(async () => {
  await app?.close();
  receiver?.closeAllConnections();
  receiver?.close();
});

test.each(['hmac', 'ed25519'] as const)(
  'calls that the service signs with %s are verified, also during a rotation',
  async (signature) => {
    const { id, secret, public_key } = await client.webhooks.create({ url, signature, types: ['otp.locked'] });
    const secrets = [secret ?? public_key ?? ''];
    await client.webhooks.test(id);
    const rotated = await client.webhooks.rotate(id);
    secrets.push(rotated.secret ?? rotated.public_key ?? '');
    await client.webhooks.test(id);
    const [before, after] = received;
    if (before === undefined || after === undefined) throw new Error('Two calls were expected.');
    const ping = [expect.objectContaining({ type: 'test.ping', sequence: null, data: { endpoint: id } })];
    const [old = '', fresh = ''] = secrets;
    expect(await verifyWebhook({ secrets: old, ...before })).toEqual(ping);
    await expect(verifyWebhook({ secrets: fresh, ...before })).rejects.toMatchObject({ reason: 'signature' });
    for (const one of [old, fresh]) expect(await verifyWebhook({ secrets: one, ...after })).toEqual(ping);
    await client.webhooks.remove(id);
  },
);

test('a batch is a list of events in the order of their numbers', async () => {
  const { id, secret = '' } = await client.webhooks.create({ url, ordering: 'strict', batch: { max: 10, wait_ms: 0 } });
  await logEventsOf(app, [delivered(app.accountId), verified(app.accountId), delivered(app.accountId, 1)]);
  const events: WebhookEvent[] = [];
  await until(async () => {
    for (const call of received.splice(0)) events.push(...(await verifyWebhook({ secrets: secret, ...call })));
    return events.length === 3;
  });
  expect(events.map(({ type }) => type)).toEqual(['message.delivered', 'otp.verified', 'message.delivered']);
  const [first] = events;
  expect(events.map(({ sequence, previous }) => [sequence, previous]).slice(1)).toEqual([
    [(first?.sequence ?? 0) + 1, first?.sequence],
    [(first?.sequence ?? 0) + 2, (first?.sequence ?? 0) + 1],
  ]);
  await client.webhooks.remove(id);
});

test('the stream continues after the last event if the service drops its connections', async () => {
  const { last } = await client.events.list().page();
  const numbers: number[] = [];
  await logEventsOf(app, [delivered(app.accountId, 0), delivered(app.accountId, 1)]);
  for await (const event of client.events.stream({ after: last, types: ['message.delivered'] })) {
    numbers.push(event.data.position);
    if (numbers.length === 6) break;
    if (numbers.length % 2 === 0) app.app.getHttpServer().closeAllConnections();
    if (numbers.length === 4) await logEventsOf(app, [verified(app.accountId), delivered(app.accountId, 5)]);
    if (numbers.length === 2)
      await logEventsOf(
        app,
        [2, 3, 4].map((position) => delivered(app.accountId, position)),
      );
    if (numbers.length === 1) await logEventsOf(app, [verified(app.accountId)]);
  }
  expect(numbers).toEqual([0, 1, 2, 3, 4, 5]);
  const listed: number[] = [];
  for await (const event of client.events.list({ after: last, types: ['message.delivered'], limit: 2 })) {
    listed.push(event.data.position);
  }
  expect(listed).toEqual([0, 1, 2, 3, 4, 5]);
});
