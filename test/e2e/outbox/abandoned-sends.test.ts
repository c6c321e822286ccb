import { expect, test } from '@jest/globals';
import { Outbox } from '../../../src/outbox/outbox.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { RawConnection, type Reply } from '../../support/http/http-client.js';
import { clientOf } from '../../support/mounting/mounted.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { MsgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { ScriptedStorage } from '../../support/outbox/scripted-commits.js';

const NUMBER = '22670000000';
const SMS = { path: 'send/sms', body: { signature: 'INFOS', content: 'Bonjour', number: [NUMBER] } };
const OTP = { path: 'send/otp', body: { service: 'Boutique', number: NUMBER } };
const TEXT = { path: 'msgapp/send/text', body: { to: NUMBER, body: 'Bonjour' } };

const opened = closeAfterEach();

describeOnBothAdapters('a send whose caller no longer waits', (adapter) => {
  async function start() {
    const storage = new ScriptedStorage();
    const clock = new FakeClock();
    const options = { storage: { useValue: storage }, clock: { useValue: clock } };
    const service = opened(await startMsgapp((...args) => startService(adapter, ...args), options));
    const client = await clientOf(service);
    const arrivals = countAccepts(service.app.get(Outbox, { strict: false }));
    /** Posts and waits until the send is in the outbox. */
    const post = async (path: string, body: unknown, key: string): Promise<{ reply: Promise<Reply> }> => {
      const before = arrivals();
      const reply = client.post(path, body, { 'idempotency-key': key });
      await until(arrivals, (count) => count > before);
      return { reply };
    };
    return { service, storage, clock, client, arrivals, post };
  }

  test.each([SMS, OTP])('is not charged if it was answered 504 before its commit ($path)', async ({ path, body }) => {
    const { storage, clock, client, post } = await start();
    const units = await client.balance();
    const gate = new Gate();
    storage.commits.before = gate.opened;
    const committing = await post(path, body, 'first');
    await until(() => storage.commits.seen.length > 0);
    const waiting = await post(path, body, 'second');
    clock.advance(30_000);
    expect([(await committing.reply).status, (await waiting.reply).status]).toEqual([504, 504]);
    gate.open();

    // A send in a transaction stays accepted.
    const first = await until(
      () => client.post(path, body, { 'idempotency-key': 'first' }),
      ({ status }) => status === 200,
    );
    expect(first.headers.get('idempotency-replayed')).toBe('true');
    expect([await client.balance(), storage.commits.seen.length]).toEqual([units - 1, 1]);
    // A send in no transaction is accepted anew under its key.
    const second = await client.post(path, body, { 'idempotency-key': 'second' });
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect([await client.balance(), storage.commits.seen.length]).toEqual([units - 2, 2]);
  });

  test.each([SMS, OTP, TEXT])('is not charged if the client hung up before its commit ($path)', async (send) => {
    const { storage, client, post, service, arrivals } = await start();
    if (send === TEXT) await new MsgappClient(client, service.url).link('22670000009');
    const gate = new Gate();
    storage.commits.before = gate.opened;
    const committing = await post(SMS.path, SMS.body, 'first');
    await until(() => storage.commits.seen.length > 0);
    const others = await connectionsOf(service);
    const connection = await RawConnection.open(service.port);
    connection.write(rawPost(client, send));
    await until(arrivals, (count) => count === 2);
    connection.socket.destroy();
    await until(
      () => connectionsOf(service),
      (count) => count === others,
    );
    gate.open();
    expect((await committing.reply).status).toBe(200);
    expect((await client.sent(SMS.body)).sms_units).toBe(1);
    expect([await client.balance(), storage.commits.seen.length]).toEqual([8, 2]);
  });
});

/** The number of sends that reached the outbox. */
function countAccepts(outbox: Outbox): () => number {
  let count = 0;
  const accept = outbox.accept.bind(outbox);
  outbox.accept = (...args) => {
    count++;
    return accept(...args);
  };
  return () => count;
}

function connectionsOf({ app }: Service): Promise<number> {
  return new Promise((resolve) => {
    app.getHttpServer().getConnections((_error: unknown, count: number) => resolve(count));
  });
}

function rawPost({ key }: ApiClient, { path, body }: { readonly path: string; readonly body: object }): string {
  const text = JSON.stringify(body);
  return [
    `POST /api/v1/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`,
    `X-Api-Key: ${key}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  ].join('');
}
