import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import { until } from '../../support/common/until.js';
import { EventReader } from '../../support/events/event-reader.js';
import { ApiClient } from '../../support/http/api-client.js';
import { FileServer } from '../../support/http/file-server.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { describeService, type Service, startService } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';

const TO = '22671000001';

describeService('the states of a message of the channel', (start) => {
  let service: Service;
  let clock: FakeClock;
  let files: FileServer;
  beforeAll(async () => {
    clock = new FakeClock();
    files = await FileServer.open();
    // The test advances the clock in large steps, so no other process may take the sessions over.
    const msgapp = { ...MSGAPP, sessions: { leaseMs: 600_000 } };
    service = await startMsgapp(start, { clock: { useValue: clock }, msgapp });
  });
  afterAll(() => files.close());

  const linked = async (number: string, units = 10) => {
    const client = await msgappClient(service, units);
    await client.link(number);
    return client;
  };
  const turnTo = (client: MsgappClient, id: string, wanted: string) =>
    eventually(
      () => client.message(id),
      ({ status }) => status === wanted,
      { clock, stepMs: 100 },
    );

  test.each(['text', 'media'] as const)('990001 is refused for good and refunded: %s', async (kind) => {
    const client = await linked('22670000100');
    const body = { to: '22671990001', body: 'x', mediaUrl: files.url('/photo.png') };
    const id = MsgappClient.idOf(await client[kind](body));
    const message = await turnTo(client, id, 'failed');
    const units = kind === 'text' ? 1 : 2;
    expect(message).toMatchObject({ units, refunded_units: units, error: 'sandbox: refused', sent_at: null });
    expect(message.failed_at).toBe(message.updated_at);
    expect(await client.api.balance()).toBe(10);
    expect(await client.phone('22671990001')).toEqual([]);
    const { items } = await service.app.get(LedgerService).entries(client.api.accountId);
    expect(items.map((entry) => [entry.kind, entry.units])).toEqual([
      ['refund', units],
      ['charge', -units],
      ['topup', 10],
    ]);
  });

  test('990002 arrives at the third attempt', async () => {
    const client = await linked('22670000101');
    const started = clock.now();
    const id = MsgappClient.idOf(await client.text({ to: '22671990002', body: 'x' }));
    expect(await turnTo(client, id, 'delivered')).toMatchObject({ error: null, refunded_units: 0 });
    expect(clock.now() - started).toBeLessThan(5_000);
    expect(await client.phone('22671990002')).toHaveLength(1);
  });

  test('990003 is never reported, becomes unknown after 10 s, and stays paid', async () => {
    const client = await linked('22670000102');
    const id = MsgappClient.idOf(await client.text({ to: '22671990003', body: 'x' }));
    const sent = await turnTo(client, id, 'sent');
    expect(sent).toMatchObject({ delivered_at: null, sent_at: expect.any(String) });
    clock.advance(9_000);
    expect((await client.message(id)).status).toBe('sent');
    expect(await turnTo(client, id, 'unknown')).toMatchObject({ refunded_units: 0 });
    expect(await client.api.balance()).toBe(9);
  });

  test('990004 is accepted, cannot be delivered, and stays paid', async () => {
    const client = await linked('22670000103');
    const id = MsgappClient.idOf(await client.text({ to: '22671990004', body: 'x' }));
    expect(await turnTo(client, id, 'undelivered')).toMatchObject({ refunded_units: 0, delivered_at: null });
    expect(await client.api.balance()).toBe(9);
  });

  test('a file is forgotten when its message is delivered', async () => {
    const client = await linked('22670000104');
    const id = MsgappClient.idOf(await client.media({ to: TO, mediaUrl: files.url('/photo.png') }));
    await turnTo(client, id, 'delivered');
    const media = service.app.get(MediaStore);
    await eventually(async () => {
      try {
        for await (const _ of media.read(id)) return false;
      } catch {
        return true;
      }
      return false;
    });
  });

  test.each(['text', 'media'] as const)(
    'a repeat under its key gets the first answer, byte for byte: %s',
    async (kind) => {
      const client = await linked('22670000105');
      const body = { to: TO, body: 'une fois', mediaUrl: files.url(`/photo.png?${kind}`), caption: 'une fois' };
      files.put(`/photo.png?${kind}`, 'image/png', Buffer.from('89504e470d0a1a0a', 'hex'));
      const once = { 'idempotency-key': 'order-1' };
      const first = await client[kind](body, once);
      const id = MsgappClient.idOf(first);
      const left = await client.api.balance();
      expect(first.headers.get('idempotency-replayed')).toBeNull();
      const reordered = Object.fromEntries(Object.entries(body).reverse());
      for (const again of [await client[kind](body, once), await client[kind](reordered, once)]) {
        expect(again).toMatchObject({ status: 200, body: first.body });
        expect(again.headers.get('idempotency-replayed')).toBe('true');
      }
      expect(await client.api.balance()).toBe(left);
      if (kind === 'media') expect(files.asked.get(`/photo.png?${kind}`)).toBe(1);
      await turnTo(client, id, 'delivered');
      expect((await client.phone(TO)).filter(({ messageID }) => messageID === id)).toHaveLength(1);

      expect(await client[kind]({ ...body, to: '22671000002' }, once)).toMatchObject({
        status: 422,
        body: {
          statusCode: 422,
          message: 'Cette Idempotency-Key a déjà servi pour une autre requête',
          error: 'Unprocessable Entity',
        },
      });
      // On another route or for another account the key is free.
      const other = kind === 'text' ? 'media' : 'text';
      expect((await client[other](body, once)).headers.get('idempotency-replayed')).toBeNull();
      const stranger = await linked('22670000106');
      expect((await stranger[kind](body, once)).headers.get('idempotency-replayed')).toBeNull();
    },
  );

  test('a repeat is answered even if the number is no longer connected', async () => {
    const client = await linked('22670000107');
    const once = { 'idempotency-key': 'order-2' };
    const first = await client.text({ to: TO, body: 'x' }, once);
    const [session] = await client.sessions();
    await client.logout(session?.sessionID ?? '');
    expect(await client.text({ to: TO, body: 'x' }, once)).toMatchObject({ status: 200, body: first.body });
    expect(await client.text({ to: TO, body: 'x' })).toMatchObject({ status: 409 });
  });

  test('a refusal is not kept: the same key may be tried again', async () => {
    const client = await msgappClient(service, 10);
    const once = { 'idempotency-key': 'order-3' };
    expect((await client.text({ to: TO, body: 'x' }, once)).status).toBe(409);
    await client.link('22670000108');
    expect((await client.text({ to: TO, body: 'x' }, once)).status).toBe(200);
    expect(await client.api.balance()).toBe(9);
  });

  test('twenty at once under one key are one message', async () => {
    const client = await linked('22670000109', 100);
    const once = { 'idempotency-key': 'order-4' };
    const mediaUrl = files.put('/race.png', 'image/png', Buffer.from('89504e470d0a1a0a', 'hex')).url('/race.png');
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.media({ to: TO, mediaUrl }, once)));
    const ids = answers.filter(({ status }) => status === 200).map(MsgappClient.idOf);
    expect(new Set(ids).size).toBe(1);
    expect(answers.filter(({ status }) => status !== 200).map(({ status }) => status)).toEqual(
      Array.from({ length: 20 - ids.length }, () => 409),
    );
    expect([await client.api.balance(), files.asked.get('/race.png')]).toEqual([98, 1]);
  });

  test('two hundred at once from one number arrive in order, are paid once each, and none is lost', async () => {
    const client = await linked('22670000110', 150);
    const answers = [];
    for (let at = 0; at < 200; at += 50) {
      const some = Array.from({ length: 50 }, (_, index) => client.text({ to: '22671000500', body: `n${at + index}` }));
      answers.push(...(await Promise.all(some)));
    }
    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted).toHaveLength(150);
    expect(await client.api.balance()).toBe(0);
    const shown = await eventually(
      () => client.phone('22671000500'),
      ({ length }) => length >= 150,
      { clock, stepMs: 5 },
    );
    expect(shown.map(({ messageID }) => messageID)).toEqual(
      shown.map(({ messageID }) => messageID).toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    );
    expect(new Set(shown.map(({ messageID }) => messageID)).size).toBe(150);
    expect(await service.app.get(LedgerService).checkLedger()).toEqual([]);
  });
});

describeOnOneAdapter('the channel after a restart', (adapter) => {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-msgapp-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is connected again without a scan, and sends the remaining messages', async () => {
    const database = `sqlite:${join(folder, 'messaging.db')}`;
    const startHere = () =>
      startMsgapp((options, setup) => startService(adapter, options, setup), {
        storage: { useValue: new TypeormStorage({ database }) },
      });
    const first = await startHere();
    const client = await msgappClient(first, 10);
    await client.link('22670000100');
    await client.link('22670000101');
    const pending = await client.connect();
    const early = MsgappClient.idOf(await client.text({ to: TO, body: 'avant' }));
    await client.settled(early, 'delivered');
    await first.close();

    const second = await startHere();
    const after = new MsgappClient(
      new ApiClient(`${second.url}/api/v1`, client.api.accountId, client.api.key),
      second.url,
    );
    const sessions = await until(
      () => after.sessions(),
      (all) => all.filter(({ status }) => status === 'connected').length === 2,
    );
    expect(sessions.map(({ number, status, reason }) => [number, status, reason])).toEqual([
      [null, 'expired', 'shutdown'],
      ['22670000101', 'connected', 'reconnected'],
      ['22670000100', 'connected', 'reconnected'],
    ]);
    expect((await EventReader.open(`${second.url}${new URL(pending.qr_url).pathname}`)).status).toBe(404);
    const late = MsgappClient.idOf(await after.text({ to: TO, body: 'après' }));
    expect(await after.settled(late, 'delivered')).toMatchObject({ from: '22670000100', body: 'après' });
    expect(await after.message(early)).toMatchObject({ status: 'delivered', body: 'avant' });
    expect(await after.api.balance()).toBe(8);
    await second.close();
  });
});
