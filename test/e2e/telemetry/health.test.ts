import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { StorageUnavailableError } from '../../../src/common/errors.js';
import { HealthService } from '../../../src/health/health-service.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { OperatingStore } from '../../../src/outbox/operating-state.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import type { StorageHealth } from '../../../src/storage/messaging-storage.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { MemoryStorage } from '../../../src/testing/memory-storage.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { describeOnBothAdapters } from '../../support/http/http-apps.js';
import { call } from '../../support/http/http-client.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { clientOf } from '../../support/mounting/mounted.js';
import { MSGAPP, MsgappClient } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { GatedTransport } from '../../support/outbox/gated-transport.js';
import { ScriptedStorage } from '../../support/outbox/scripted-commits.js';

const opened = closeAfterEach();
const LIVE = '/api/v1/health/live';
const READY = '/api/v1/health/ready';
const OK = { status: 'ok' };
const JWT = `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.e30.c2ln`;
const UNAVAILABLE = { status: 'unavailable' };
const MANAGED = { management: { secret: 'a secret of the tests: 9dQm1x0HcV2u7Lr' } };

/** A storage whose health a test controls. */
class SickStorage extends MemoryStorage {
  asked = 0;
  answer: (() => Promise<StorageHealth>) | undefined;

  override async health(): Promise<StorageHealth> {
    this.asked++;
    return this.answer ? this.answer() : super.health();
  }
}

describeOnBothAdapters('health', (adapter) => {
  test('is shown to strangers without detail, and never cached', async () => {
    const app = opened(await startMessaging(adapter));
    for (const path of [LIVE, READY]) {
      const { status, body, headers } = await call(`${app.url}${path}`, { headers: { 'x-api-key': 'nobody' } });
      expect([status, body, headers.get('cache-control')]).toEqual([200, OK, 'no-store']);
    }
    expect((await call(`${app.url}${READY}`, { method: 'HEAD' })).status).toBe(200);
  });

  test('is unready but live while the storage is unavailable or hangs; pollers share one check a second', async () => {
    const storage = new SickStorage();
    const clock = new FakeClock();
    const app = opened(await startMessaging(adapter, { storage: { useValue: storage }, clock: { useValue: clock } }));
    const statusOf = async (path: string) => (await call(`${app.url}${path}`)).status;
    /** A second later, when the previous result has expired. */
    const nextOf = (path: string) => {
      clock.advance(1000);
      return statusOf(path);
    };
    storage.answer = () => Promise.reject(new StorageUnavailableError('no connection'));
    expect(await nextOf(READY)).toBe(503);
    expect(await call(`${app.url}${READY}`)).toMatchObject({ status: 503, body: UNAVAILABLE });
    expect(await statusOf(LIVE)).toBe(200);
    const asked = storage.asked;
    clock.advance(1000);
    await Promise.all(Array.from({ length: 50 }, () => statusOf(READY)));
    expect(storage.asked - asked).toBe(1);
    const gate = new Gate();
    storage.answer = async () => {
      await gate.opened;
      return { lacks: [] };
    };
    const before = storage.asked;
    const hanging = nextOf(READY);
    await until(() => storage.asked > before);
    clock.advance(800);
    expect(await hanging).toBe(503);
    expect(await statusOf(LIVE)).toBe(200);
    gate.open();
    storage.answer = undefined;
    await until(
      () => nextOf(READY),
      (status) => status === 200,
    );
  });

  test('is unready as soon as a shutdown begins, and is still answered while other requests are refused', async () => {
    const storage = new ScriptedStorage();
    const app = opened(await startMessaging(adapter, { storage: { useValue: storage } }));
    const client = await clientOf(app);
    const gate = new Gate();
    storage.commits.before = gate.opened;
    const sending = client.send({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
    await until(() => storage.commits.seen.length > 0);
    expect((await call(`${app.url}${READY}`)).status).toBe(200);
    const closed = app.app.close();
    await until(
      () => client.call('balance'),
      ({ status }) => status === 503,
    );
    expect(await call(`${app.url}${READY}`)).toMatchObject({ status: 503, body: UNAVAILABLE });
    expect(await call(`${app.url}${LIVE}`)).toMatchObject({ status: 200, body: OK });
    gate.open();
    expect((await sending).status).toBe(200);
    await closed;
  });

  test('is not mounted if there are no routes, and its service still exists', async () => {
    const app = opened(await startMessaging(adapter, { controllers: false }));
    expect((await call(`${app.url}${LIVE}`)).status).toBe(404);
    expect(await app.app.get(HealthService, { strict: false }).isReady()).toBe(true);
  });

  test('shows the operator the state of each check and since when', async () => {
    const userTokens = {
      useValue: { operators: true, verify: async () => ({ subject: 'o', role: 'support' as const }) },
    };
    const app = opened(await startMessaging(adapter, { ...MANAGED, userTokens, msgapp: MSGAPP }));
    const path = `${app.url}/api/v1/manage/health`;
    expect((await call(path, { headers: { 'x-api-key': app.key } })).status).toBe(403);
    const { status, body } = await call(path, { headers: { authorization: `Bearer ${JWT}` } });
    const ok = { state: 'ok', text: expect.any(String), since: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect([status, body]).toEqual([
      200,
      {
        status: 'ok',
        checks: [
          { check: 'storage', subject: null, ...ok },
          { check: 'schema', subject: null, ...ok },
          { check: 'workers', subject: null, ...ok },
          { check: 'queue', subject: 'sms', ...ok },
          { check: 'routes', subject: null, ...ok },
          { check: 'sessions', subject: 'msgapp', ...ok },
          { check: 'process', subject: null, ...ok, since: null },
        ],
      },
    ]);
  });
});

/** The report of a service on a clock that the test controls. */
async function reported(options: Partial<MessagingOptions> = {}) {
  const clock = new FakeClock();
  const app = opened(await startMessaging('express', { clock: { useValue: clock }, ...options }));
  const health = app.app.get(HealthService, { strict: false });
  const checkOf = async (check: string) => {
    clock.advance(1000);
    const { checks } = await health.report();
    return checks.find((each) => each.check === check);
  };
  const stateOf = async (check: string) => (await checkOf(check))?.state;
  return { app, clock, health, checkOf, stateOf };
}

test('a database without a schema version is unready, and newer versions are not a fault', async () => {
  const file = opened(new SqliteFile());
  const { stateOf } = await reported({ storage: file.storage() });
  expect(await stateOf('schema')).toBe('ok');
  const database = new Database(file.path);
  database.exec(`INSERT INTO messaging_schema VALUES ('outbox/9999-future', 1)`);
  expect(await stateOf('schema')).toBe('ok');
  database.exec(`DELETE FROM messaging_schema WHERE name = 'outbox/0001-initial'`);
  database.close();
  expect(await stateOf('schema')).toBe('failed');
});

test('a SQLite file needs disk space', async () => {
  const file = opened(new SqliteFile());
  const { stateOf } = await reported({ storage: file.storage(), health: { diskFreeBytes: 0 } });
  expect(await stateOf('disk')).toBe('ok');
  const other = opened(new SqliteFile());
  const full = await reported({ storage: other.storage(), health: { diskFreeBytes: Number.MAX_SAFE_INTEGER } });
  expect(await full.stateOf('disk')).toBe('failed');
});

test('a worker without a finished round is silent after 30 s, and one that only removes expired data does not count', async () => {
  const { app, clock, stateOf } = await reported();
  expect(await stateOf('workers')).toBe('ok');
  app.app.get(Rounds, { strict: false }).start('purge things', { everyMs: 1000, isUpkeep: true });
  for (let second = 0; second < 40; second++) {
    clock.advance(1000);
    await settled(5);
  }
  expect(await stateOf('workers')).toBe('warning');
  const gate = new Gate();
  app.app.get(OutboxStore, { strict: false }).claim = async () => {
    await gate.opened;
    return [];
  };
  for (let second = 0; second < 40; second++) {
    clock.advance(1000);
    await settled(5);
  }
  expect(await stateOf('workers')).toBe('failed');
  gate.open();
});

test('a delivery may be due for a limited time', async () => {
  const transport = new GatedTransport();
  const sms = { ...OPTIONS.sms, transport: { useValue: transport } };
  const options = { ready: ['queue'], oldestDueMs: 60_000 } as const;
  const { app, clock, health, checkOf, stateOf } = await reported({ sms, role: 'api', health: options });
  await (await clientOf(app)).sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
  clock.advance(59_000);
  expect(await stateOf('queue')).toBe('ok');
  clock.advance(1000);
  expect(await stateOf('queue')).toBe('failed');
  expect(await health.isReady()).toBe(false);
  const pause = { channel: 'sms', accountId: undefined, since: clock.now() };
  const store = app.app.get(OperatingStore, { strict: false });
  store.state = async () => ({ pauses: [pause], rested: new Set<string>() });
  clock.advance(5000);
  expect(await checkOf('queue')).toMatchObject({
    state: 'warning',
    text: expect.stringMatching(/ The queue is paused\.$/),
  });
  expect(await health.isReady()).toBe(true);
  store.state = async () => ({ pauses: [{ ...pause, accountId: 'a' }], rested: new Set<string>() });
  clock.advance(5000);
  expect(await checkOf('queue')).toMatchObject({
    state: 'warning',
    text: expect.stringMatching(/ paused for 1 account\.$/),
  });
});

test('messages may wait on purpose: what is due for long is a warning, and the process stays ready', async () => {
  const sms = { ...OPTIONS.sms, transport: { useValue: new GatedTransport() } };
  const { app, clock, health, stateOf } = await reported({ sms, role: 'api', health: { oldestDueMs: 1000 } });
  await (await clientOf(app)).sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
  clock.advance(1000);
  expect(await stateOf('queue')).toBe('warning');
  expect(await health.isReady()).toBe(true);
});

test('a carrier that is unavailable for a minute counts, but only in processes that deliver SMS', async () => {
  const route = { name: 'a', transport: 'a', usable: false, links: [] };
  const transport = Object.assign(new GatedTransport(), { state: () => [route] });
  const sms = { ...OPTIONS.sms, transport: { useValue: transport } };
  const { clock, stateOf } = await reported({ sms });
  expect(await stateOf('routes')).toBe('warning');
  clock.advance(60_000);
  expect(await stateOf('routes')).toBe('failed');
  transport.state = () => [route, { ...route, name: 'b', usable: true }];
  expect(await stateOf('routes')).toBe('warning');
  const api = await reported({ sms, role: 'api' });
  expect(await api.stateOf('routes')).toBeUndefined();
});

test('linked numbers count if none of them is connected for two minutes', async () => {
  const transport = new ScriptedTransport();
  const msgapp = { ...MSGAPP, transport: { useValue: transport } };
  const { app, clock, stateOf } = await reported({ msgapp });
  const client = new MsgappClient(await clientOf(app), app.url);
  await client.connect();
  expect(await stateOf('sessions')).toBe('ok');
  await transport.last().say({ kind: 'open', number: '22670000100' });
  expect(await stateOf('sessions')).toBe('ok');
  const gate = new Gate();
  transport.opening = gate.opened;
  await transport.last().say({ kind: 'ended', end: { next: 'retry', reason: 'lost' } });
  expect(await stateOf('sessions')).toBe('warning');
  for (let second = 0; second < 121; second++) {
    clock.advance(1000);
    await settled(2);
  }
  expect(await stateOf('sessions')).toBe('failed');
  gate.open();
});
