import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Idempotency } from '../../../src/outbox/idempotency.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { ApiClient } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { rawSend } from '../../support/http/raw-send.js';
import { describeService, type Service, startService } from '../../support/mounting/services.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';

const SEND = { signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] };
const KEY = { 'idempotency-key': 'order-1' };
const RUNNING = {
  statusCode: 409,
  message: 'Une requête avec cette Idempotency-Key est en cours de traitement',
  error: 'Conflict',
};

/** Holds back the results of look-ups until this many requests are at the gate. */
function holdLookUps({ app }: Service, requests: number): void {
  const [gate, store] = [app.get(Idempotency, { strict: false }), app.get(OutboxStore, { strict: false })];
  const [run, replay] = [gate.run.bind(gate), store.replay.bind(store)];
  const all = new Gate();
  let here = 0;
  gate.run = (...args) => {
    here++;
    if (here === requests) all.open();
    return run(...args);
  };
  store.replay = async (...args) => {
    const kept = await replay(...args);
    await all.opened;
    return kept;
  };
}

describeService('many requests under one Idempotency-Key', (start) => {
  let service: Service;
  let client: ApiClient;
  beforeAll(async () => {
    service = await start();
  });
  beforeEach(async () => {
    client = await service.client(10);
  });

  test('after the first one: each of 50 at once gets a replay, and one with another body a 422', async () => {
    const crowded = await start();
    const guest = await crowded.client(10);
    const body = JSON.stringify(SEND);
    const first = await rawSend(guest, KEY, body);
    expect(first).toMatchObject({ status: 200, replayed: null });
    const bodies = Array.from({ length: 51 }, (_, at) =>
      at === 25 ? JSON.stringify({ ...SEND, content: 'Bonsoir' }) : body,
    );
    holdLookUps(crowded, bodies.length);
    const answers = await Promise.all(bodies.map((each) => rawSend(guest, KEY, each)));
    expect(answers.splice(25, 1)).toMatchObject([{ status: 422, replayed: null }]);
    for (const answer of answers) expect(answer).toEqual({ status: 200, replayed: 'true', text: first.text });
    expect(await guest.balance()).toBe(9);
    expect((await guest.list()).items).toHaveLength(1);
  });

  test('before the first one: 50 at once send once, and 49 are told to wait', async () => {
    const crowded = await start();
    const guest = await crowded.client(10);
    holdLookUps(crowded, 50);
    const replies = await Promise.all(Array.from({ length: 50 }, () => guest.send(SEND, KEY)));
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.map(({ body }) => body)).toEqual(Array.from({ length: 49 }, () => RUNNING));
    expect(await guest.balance()).toBe(9);
  });

  test('40 at once send once; each gets that answer or is told to wait', async () => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => client.send(SEND, KEY)));
    const done = replies.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const { status, body, headers } of replies) {
      if (status !== 200) expect([body, headers.get('retry-after')]).toEqual([RUNNING, '1']);
    }
    expect(await client.balance()).toBe(9);
  });
});

describeOnOneAdapter('an Idempotency-Key whose first request is running', (adapter) => {
  /** Holds commits back until it is told to go on. */
  class HeldStorage extends SqliteMemory {
    entered: () => void = () => {};
    release: () => void = () => {};

    hold(): Promise<void> {
      const gate = new Promise<void>((resolve) => {
        this.release = resolve;
      });
      const commit = this.store(OutboxStore).commit.bind(this.store(OutboxStore));
      return new Promise((entered) => {
        this.store(OutboxStore).commit = async (...args) => {
          entered();
          await gate;
          return commit(...args);
        };
      });
    }
  }

  test('is a 409 here, and gives the same answer on another instance', async () => {
    const storage = new HeldStorage();
    const here = await startService(adapter, { storage: { useValue: storage } });
    const there = await startService(adapter, { storage: { useValue: storage } });
    try {
      const client = await here.client(10);
      const elsewhere = new ApiClient(`${there.url}/api/v1`, client.accountId, client.key);
      const held = storage.hold();
      const first = client.send(SEND, KEY);
      await held;
      const second = await client.send(SEND, KEY);
      expect([second.status, second.body, second.headers.get('retry-after')]).toEqual([409, RUNNING, '1']);
      const other = elsewhere.send(SEND, KEY);
      storage.release();
      const { body } = await first;
      const replay = await other;
      expect([replay.status, replay.body]).toEqual([200, body]);
      expect([(await first).headers, replay.headers].map((headers) => headers.get('idempotency-replayed'))).toEqual(
        expect.arrayContaining([null, 'true']),
      );
      expect(await client.balance()).toBe(9);
      expect(await client.send({ ...SEND, content: 'Another' }, KEY)).toMatchObject({ status: 422 });
    } finally {
      await here.close();
      await there.close();
    }
  });

  test('sends once for 50 first requests at once on two instances', async () => {
    const storage = new SqliteMemory();
    const here = await startService(adapter, { storage: { useValue: storage } });
    const there = await startService(adapter, { storage: { useValue: storage } });
    try {
      const client = await here.client(10);
      const elsewhere = new ApiClient(`${there.url}/api/v1`, client.accountId, client.key);
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? client : elsewhere).send(SEND, KEY)),
      );
      const done = replies.filter(({ status }) => status === 200);
      expect(done.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
      expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      for (const { status, body } of replies) if (status !== 200) expect(body).toEqual(RUNNING);
      expect(await client.balance()).toBe(9);
    } finally {
      await here.close();
      await there.close();
    }
  });
});
