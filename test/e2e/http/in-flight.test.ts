import { request } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import { TypeormStorage } from '../../../src/messaging/typeorm-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/common/eventually.js';
import type { ApiClient } from '../../support/http/api-client.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { type Service, startService } from '../../support/mounting/services.js';
import { TroubledStorage } from '../../support/openapi/openapi-troubles.js';

const MAX_IN_FLIGHT = 3;
const BUSY = { statusCode: 429, message: 'Trop de requêtes en cours', error: 'Too Many Requests' };
const SMS = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };

describeOnBothAdapters('concurrent requests of an account', (adapter) => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const begin = async (options: Parameters<typeof startService>[1] = {}) => {
    const storage = new TroubledStorage();
    const clock = new FakeClock();
    const service = await startService(adapter, {
      storage: { useValue: storage },
      clock: { useValue: clock },
      limits: { inFlight: MAX_IN_FLIGHT, bodyBytes: 100_000 },
      ...options,
    });
    closing.push(() => service.close());
    const client = await service.client(10);
    await client.balance();
    return { storage, clock, service, client };
  };

  /** Fills the account's share with look-ups that are held, runs a check, and releases them. Returns their answers. */
  const whileFull = async (storage: TroubledStorage, client: ApiClient, look: () => Promise<void>) => {
    const held = storage.hold('balance', MAX_IN_FLIGHT);
    const crowd = Array.from({ length: MAX_IN_FLIGHT }, () => client.call('balance'));
    await held;
    await look();
    storage.recover();
    return (await Promise.all(crowd)).map(({ status }) => status);
  };

  test('are limited: one more is a 429 that says when to retry, on any route, and another account is still served', async () => {
    const { storage, client, service } = await begin();
    const other = await service.client(10);
    const { smsID } = await client.sent(SMS);
    const statuses = await whileFull(storage, client, async () => {
      for (const path of ['balance', 'sms', `sms/${smsID}`, `sms/${smsID}/recipients`]) {
        const { status, body, headers } = await client.call(path);
        expect([path, status, body, headers.get('retry-after')]).toEqual([path, 429, BUSY, '1']);
      }
      expect(await client.send(SMS)).toMatchObject({ status: 429, body: BUSY });
      expect((await client.post('sms/quote', SMS)).status).toBe(429);
      expect((await other.send(SMS)).status).toBe(200);
      expect((await other.call('sms')).status).toBe(200);
      // A request that is refused because of its key belongs to no account.
      const stranger = await fetch(`${service.url}/api/v1/balance`, { headers: { 'x-api-key': 'nobody' } });
      expect(stranger.status).toBe(401);
    });
    expect(statuses).toEqual(Array(MAX_IN_FLIGHT).fill(200));
    expect((await client.call('sms')).body).toMatchObject({ items: [{ smsID }], next_cursor: null });
    expect(await client.balance()).toBe(9);
  });

  test('get errors in English if the host chooses English', async () => {
    const { storage, client } = await begin({ locale: 'en' });
    await whileFull(storage, client, async () => {
      expect((await client.call('sms')).body).toMatchObject({ message: 'Too many requests in progress' });
    });
  });

  test('are released once, however they end: answered, refused, broken, timed out or hung up', async () => {
    const { storage, clock, client, service } = await begin();
    const isFull = async () => {
      const statuses = await whileFull(storage, client, async () => {
        expect((await client.call('sms')).status).toBe(429);
      });
      expect(statuses).toEqual(Array(MAX_IN_FLIGHT).fill(200));
    };
    await isFull();

    // 400, 404, 413 and 500. More of each than there are places.
    for (let round = 0; round <= MAX_IN_FLIGHT; round++) {
      expect((await client.call('sms?limit=0')).status).toBe(400);
      expect((await client.call('sms/unknown')).status).toBe(404);
      expect((await client.send({ ...SMS, content: 'x'.repeat(100_001) })).status).toBe(413);
      storage.breakDown();
      expect((await client.call('balance')).status).toBe(500);
      storage.recover();
    }
    await isFull();

    const held = storage.hold('balance', MAX_IN_FLIGHT);
    const late = Array.from({ length: MAX_IN_FLIGHT }, () => client.call('balance'));
    await held;
    clock.advance(30_000);
    expect((await Promise.all(late)).map(({ status }) => status)).toEqual(Array(MAX_IN_FLIGHT).fill(504));
    // Released by the 504, and not again when the handlers end.
    expect((await client.call('sms')).status).toBe(200);
    storage.recover();
    await isFull();

    const waiting = storage.hold('balance', MAX_IN_FLIGHT);
    const gone = Array.from({ length: MAX_IN_FLIGHT }, () => hanging(service, client));
    await waiting;
    for (const each of gone) each.destroy();
    expect(
      await eventually(
        async () => (await client.call('sms')).status,
        (status) => status === 200,
      ),
    ).toBe(200);
    storage.recover();
    await isFull();
  }, 60_000);

  test('may by default be 300 listings at once, and as many sends', async () => {
    const storage = TypeormStorage.forRoot({ url: 'sqlite::memory:' });
    const service = await startService(adapter, { storage });
    closing.push(() => service.close());
    const client = await service.client(1000);
    const other = await service.client(5);
    await client.sent(SMS);
    const listings = Promise.all(Array.from({ length: 300 }, () => client.call('sms?limit=500')));
    expect(await other.balance()).toBe(5);
    expect(new Set((await listings).map(({ status }) => status))).toEqual(new Set([200]));
    const sends = await Promise.all(Array.from({ length: 300 }, () => client.send(SMS)));
    expect(new Set(sends.map(({ status }) => status))).toEqual(new Set([200]));
  }, 60_000);
});

/** A look-up whose client can hang up. */
function hanging(service: Service, client: ApiClient) {
  const sent = request(`${service.url}/api/v1/balance`, { headers: { 'x-api-key': client.key } });
  sent.on('error', () => undefined);
  sent.end();
  return sent;
}
