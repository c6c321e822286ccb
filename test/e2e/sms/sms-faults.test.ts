import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LedgerStore } from '../../../src/billing/ledger-store.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { PartStore } from '../../../src/sms/receipts/part-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { GatedTransport } from '../../support/outbox/gated-transport.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const KEY = { 'idempotency-key': 'order-1' };
const UNAVAILABLE = {
  statusCode: 503,
  message: 'Service momentanément indisponible',
  error: 'Service Unavailable',
};

describeOnOneAdapter('a send when things go wrong', (adapter) => {
  let storage: SqliteMemory;
  let clock: FakeClock;
  let service: Service;
  let client: ApiClient;
  beforeEach(async () => {
    storage = await SqliteMemory.open();
    clock = new FakeClock();
    service = await startService(adapter, {
      storage: { useValue: storage },
      clock: { useValue: clock },
      limits: { bodyBytes: 1000 },
    });
    client = await service.client(10);
  });
  afterEach(() => service.close());

  test('is a 503 with Retry-After while the storage is unavailable; nothing is charged, and the key stays free', async () => {
    const commit = storage.store(OutboxStore).commit.bind(storage.store(OutboxStore));
    storage.store(OutboxStore).commit = () =>
      Promise.reject(new StorageUnavailableError('the disk of 22670000000 is full'));
    const reply = await client.send(SEND, KEY);
    expect([reply.status, reply.body, reply.headers.get('retry-after')]).toEqual([503, UNAVAILABLE, '1']);
    storage.store(OutboxStore).commit = commit;
    expect(await client.balance()).toBe(10);
    expect((await client.list()).items).toEqual([]);
    const again = await client.send(SEND, KEY);
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);

    storage.store(LedgerStore).balance = () => Promise.reject(new StorageUnavailableError('no connection'));
    const balance = await client.call('balance');
    expect([balance.status, balance.body, balance.headers.get('retry-after')]).toEqual([503, UNAVAILABLE, '1']);
  });

  test('is a 500 with a neutral text for a fault of ours', async () => {
    storage.store(OutboxStore).commit = () => Promise.reject(new Error('column 22670000000 of secret_table'));
    const reply = await client.send(SEND);
    expect([reply.status, reply.body]).toEqual([
      500,
      { statusCode: 500, message: 'Erreur interne du service', error: 'Internal Server Error' },
    ]);
    expect(await client.balance()).toBe(10);
  });

  test('is cut after 30 s; an accepted send stays accepted and is found again under its key', async () => {
    const commit = storage.store(OutboxStore).commit.bind(storage.store(OutboxStore));
    let release: () => void = () => {};
    const entered = new Promise<void>((resolve) => {
      storage.store(OutboxStore).commit = async (...args) => {
        const outcomes = await commit(...args);
        await new Promise<void>((go) => {
          release = go;
          resolve();
        });
        return outcomes;
      };
    });
    const reply = client.send(SEND, KEY);
    await entered;
    storage.store(OutboxStore).commit = commit;
    clock.advance(30_000);
    expect(await reply).toMatchObject({
      status: 504,
      body: { statusCode: 504, message: 'Délai de traitement dépassé', error: 'Gateway Timeout' },
    });
    release();
    expect(await client.balance()).toBe(9);
    const found = await client.send(SEND, KEY);
    expect([found.status, found.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect((await client.list()).items).toMatchObject([{ smsID: (found.body as { smsID: string }).smsID }]);
    expect(await client.balance()).toBe(9);
  });

  test('stores its carrier ids in a database that returns late in its lease', async () => {
    const transport = new GatedTransport();
    transport.answer = { kind: 'sent', carrierIds: ['id-1'] };
    const carried = await startService(adapter, {
      storage: { useValue: storage },
      clock: { useValue: clock },
      sms: { ...OPTIONS.sms, transport: { useValue: transport }, delivery: { leaseMs: 60_000 } },
    });
    try {
      const record = storage.store(PartStore).record.bind(storage.store(PartStore));
      const times: number[] = [];
      storage.store(PartStore).record = (...args) => {
        times.push(clock.now());
        return times.length < 3 ? Promise.reject(new StorageUnavailableError('away')) : record(...args);
      };
      const { smsID } = (await (await carried.client(10)).send(SEND)).body as { smsID: string };
      const pass = (seen: () => boolean) => until(() => clock.advance(100), seen);
      await pass(() => transport.batches.length === 1);
      clock.advance(40_000);
      transport.gate.open();
      await pass(() => times.length === 3);
      await settled();
      expect(await storage.store(PartStore).parts(smsID)).toMatchObject([{ route: 'gated', carrierId: 'id-1' }]);
    } finally {
      await carried.close();
    }
  });

  test('is a 413 above the limit of a body, and nothing is charged', async () => {
    const reply = await client.send({ ...SEND, more: 'x'.repeat(1000) });
    expect([reply.status, reply.body]).toEqual([
      413,
      { statusCode: 413, message: 'Requête trop volumineuse', error: 'Payload Too Large' },
    ]);
    expect(await client.balance()).toBe(10);
  });
});
