import { connect } from 'node:http2';
import { describe, expect, test } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { MessagingReadiness } from '../../../src/http/readiness.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import { SessionManager } from '../../../src/msgapp/sessions/session-manager.js';
import { SessionStore } from '../../../src/msgapp/sessions/session-store.js';
import { OutboxStore } from '../../../src/outbox/outbox-store.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { settled } from '../../support/common/settled.js';
import { until } from '../../support/common/until.js';
import { CrashBooks } from '../../support/crash/crash-books.js';
import { CrashLoad } from '../../support/crash/crash-load.js';
import { SqliteFile } from '../../support/databases/sqlite-file.js';
import { EventReader } from '../../support/events/event-reader.js';
import { hostModule, ToyBox, toyModule } from '../../support/http/edge-toys.js';
import { describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { call, RawConnection, type Reply } from '../../support/http/http-client.js';
import { OPTIONS, startMessaging } from '../../support/mounting/messaging-app.js';
import { clientOf } from '../../support/mounting/mounted.js';
import { startService } from '../../support/mounting/services.js';
import { MSGAPP, MsgappClient, msgappClient, startMsgapp } from '../../support/msgapp/msgapp-app.js';
import { ScriptedTransport } from '../../support/msgapp/scripted-transport.js';
import { Gate } from '../../support/outbox/delivery-fixture.js';
import { GatedTransport } from '../../support/outbox/gated-transport.js';
import { ScriptedStorage } from '../../support/outbox/scripted-commits.js';

const UNAVAILABLE = { statusCode: 503, message: 'Service momentanément indisponible', error: 'Service Unavailable' };
const UNITS = 1_000_000;

const opened = closeAfterEach();

/** Closes an application as a signal does: connections that clients hold open stay open. */
function closing({ app }: Pick<RunningApp, 'app'>) {
  const state = { isClosed: false };
  const closed = app.close().then(() => {
    state.isClosed = true;
  });
  return { state, closed };
}

/** Records when a method is called, before it runs. */
function noteCalls<T extends object>(object: T, name: string & keyof T, say: () => void): void {
  const method: unknown = Reflect.get(object, name);
  if (typeof method !== 'function') throw new Error(`There is no method ${name}.`);
  const noting = (...given: unknown[]): unknown => {
    say();
    return Reflect.apply(method, object, given);
  };
  Object.defineProperty(object, name, { value: noting });
}

/** A route of the host's own. */
@Controller('host')
class HostController {
  @Get()
  greet() {
    return { hello: true };
  }
}

function expectRefused({ status, headers, body }: Reply): void {
  expect([status, body, headers.get('retry-after'), headers.get('connection')]).toEqual([
    503,
    UNAVAILABLE,
    '1',
    'close',
  ]);
}

describeOnBothAdapters('a shutdown', (adapter) => {
  test('ends while clients send over connections that they keep; answered sends are stored and delivered', async () => {
    const file = opened(new SqliteFile());
    const transport = new GatedTransport();
    const sms = { ...OPTIONS.sms, transport: { useValue: transport } };
    const app = await startMessaging(adapter, { storage: file.storage(), sms }, { units: UNITS });
    const host = { url: app.url };
    const load = new CrashLoad(() => [host], app.key, { clients: 8 });
    try {
      await until(() => load.answered.size > 20 && transport.batches.length > 0);
      const { state, closed } = closing(app);
      // A delivery is on the wire, and the shutdown waits for it. Nothing is accepted any more.
      await until(() => load.unanswered > 20);
      expectRefused(await call(`${app.url}/api/v1/balance`, { headers: { 'x-api-key': app.key } }));
      expect([state.isClosed, transport.stopped]).toEqual([false, 0]);
      transport.gate.open();
      await until(() => state.isClosed);
      await closed;
    } finally {
      app.app.getHttpServer().closeAllConnections();
    }
    const again = opened(await startApp(MessagingModule.forRoot({ ...OPTIONS, storage: file.storage() }), adapter));
    host.url = again.url;
    await load.finish();
    const books = opened(await CrashBooks.open(`sqlite:${file.path}`));
    await until(async () => (await books.unfinished()) === 0);
    expect(load.surprises).toEqual([]);
    expect(await books.problems(load.answered, UNITS, false)).toEqual([]);
  });

  test('lets a send finish that is being accepted before workers stop', async () => {
    const storage = new ScriptedStorage();
    const transport = new GatedTransport('open');
    const sms = { ...OPTIONS.sms, transport: { useValue: transport } };
    const app = opened(await startMessaging(adapter, { storage: { useValue: storage }, sms }));
    const client = await clientOf(app);
    const gate = new Gate();
    storage.commits.before = gate.opened;
    const sending = client.send({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
    await until(() => storage.commits.seen.length > 0);
    const { closed } = closing(app);
    await until(
      () => client.call('balance'),
      ({ status }) => status === 503,
    );
    await settled(50);
    expect(transport.stopped).toBe(0);
    gate.open();
    const { status, headers } = await sending;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
    expect(transport.stopped).toBe(1);
  });

  test('turns unready, lets requests end, stops workers, hands sessions over and closes the storage, in this order', async () => {
    const storage = new ScriptedStorage();
    const [sms, msgapp] = [new GatedTransport(), new ScriptedTransport()];
    const carried = new Gate();
    msgapp.carrier = async () => {
      await carried.opened;
      return { kind: 'sent', final: 'delivered' };
    };
    const service = opened(
      await startService(adapter, {
        storage: { useValue: storage },
        sms: { ...OPTIONS.sms, transport: { useValue: sms } },
        msgapp: { ...MSGAPP, transport: { useValue: msgapp } },
      }),
    );
    const readiness = service.app.get(MessagingReadiness, { strict: false });
    const order: string[] = [];
    const noted = (what: string) => {
      const now = `${what}, ${readiness.isReady ? 'ready' : 'not ready'}`;
      if (order.at(-1) !== now) order.push(now);
    };
    noteCalls(storage.store(SessionStore), 'release', () => noted('session handed over'));
    noteCalls(storage.store(OutboxStore), 'settle', () => noted('delivery settled'));
    noteCalls(storage, 'stop', () => noted('storage closed'));
    noteCalls(sms, 'stop', () => noted('carrier stopped'));

    const client = await msgappClient(service);
    await client.connect();
    await msgapp.last().say({ kind: 'open', number: '22670000100' });
    MsgappClient.idOf(await client.text({ to: '22670000101', body: 'Bonjour' }));
    await client.api.sent({ signature: 'INFOS', content: 'Bonjour', number: ['22670000000'] });
    await until(() => sms.batches.length === 1 && msgapp.last().under === 1);
    const commit = new Gate();
    storage.commits.before = commit.opened;
    const before = storage.commits.seen.length;
    const sending = client.api.send({ signature: 'INFOS', content: 'Bonjour', number: ['22670000001'] });
    await until(() => storage.commits.seen.length > before);
    noted('started');

    const { closed } = closing(service);
    await until(() => !readiness.isReady);
    expectRefused(
      await until(
        () => client.api.call('balance'),
        ({ status }) => status === 503,
      ),
    );
    noted('request held');
    commit.open();
    expect((await sending).status).toBe(200);
    noted('request answered');
    await settled(50);
    expect(order.slice(1)).toEqual(['request held, not ready', 'request answered, not ready']);
    sms.gate.open();
    carried.open();
    await closed;
    expect(order).toEqual([
      'started, ready',
      'request held, not ready',
      'request answered, not ready',
      'delivery settled, not ready',
      'carrier stopped, not ready',
      'session handed over, not ready',
      'storage closed, not ready',
    ]);
  });

  test('ends event streams, and answers 503 to requests that wait for the picture of a code', async () => {
    const service = opened(await startMsgapp((...args) => startService(adapter, ...args)));
    const { qr_url } = await new MsgappClient(await clientOf(service), service.url).connect();
    const events = [await EventReader.open(qr_url), await EventReader.open(`${service.url}/sandbox/events`)];
    let isAsked = false;
    service.app.get(SessionManager, { strict: false }).currentQr = (_token, _patienceMs, signal) => {
      isAsked = true;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const image = call(`${qr_url}/image`);
    await until(() => isAsked);
    const { closed } = closing(service);
    expectRefused(await image);
    await closed;
    for (const each of events) await each.end();
    expect(events.map(({ ended }) => ended)).toEqual([true, true]);
  });
});

/** Whether the port is closed. */
function isRefused(port: number): Promise<boolean> {
  return RawConnection.open(port).then(
    ({ socket }) => {
      socket.destroy();
      return false;
    },
    () => true,
  );
}

describeOnBothAdapters('the edge during a shutdown', (adapter) => {
  const start = async () => {
    const toys = toyModule({ limits: { bodyBytes: 100_000 } }, new FakeClock());
    const app = opened(await startApp(hostModule(toys, { controllers: [HostController] }), adapter));
    const box = app.app.get(ToyBox);
    const raw = async (...texts: string[]): Promise<RawConnection> => {
      const connection = await RawConnection.open(app.port);
      connection.write(texts.join(''));
      return connection;
    };
    const handling = (count: number) => until(() => box.waiting.length === count);
    return { app, box, raw, handling };
  };

  const post = (path: string, head = 'Content-Length: 0\r\n', key = 'good') =>
    `POST /api/v1/${path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${key}\r\n${head}\r\n`;

  test('waits for running handlers, and serves the host’s own routes meanwhile', async () => {
    const { app, box, raw, handling } = await start();
    const slow = await raw(post('slow'));
    await handling(1);
    const { state, closed } = closing(app);
    expectRefused(
      await until(
        () => call(`${app.url}/api/v1/open`, { method: 'POST' }),
        ({ status }) => status !== 200,
      ),
    );
    expect(await call(`${app.url}/host`)).toMatchObject({ status: 200, body: { hello: true } });
    expect([state.isClosed, slow.received]).toEqual([false, '']);
    box.waiting[0]?.();
    await slow.until(({ closed: isClosed }) => isClosed);
    expect(slow.received).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/i);
    await closed;
  });

  test('refuses at once a request that is still being received or looked up', async () => {
    const { app, box, raw, handling } = await start();
    const upload = await raw(post('echo', 'Content-Type: application/json\r\nContent-Length: 50\r\n'), '{"a":');
    const stranger = await raw(post('echo', 'Content-Length: 50\r\n', 'stuck'));
    await handling(1);
    const { closed } = closing(app);
    await upload.until(({ received }) => received.includes('}'));
    box.waiting[0]?.();
    await stranger.until(({ received }) => received.includes('}'));
    for (const connection of [upload, stranger]) {
      expect(connection.received).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nConnection: close\r\n/i);
      expect(connection.received).toMatch(/\r\nRetry-After: 1\r\n/i);
      expect(connection.body).toEqual(UNAVAILABLE);
      connection.socket.end();
    }
    await closed;
    expect(box.handled).toBe(0);
  });

  test('does not wait for requests that were pipelined behind the last one of a connection', async () => {
    const { app, box, raw, handling } = await start();
    const pipeline = await raw(post('slow'), post('slow'), post('slow'));
    await handling(3);
    const { closed } = closing(app);
    await until(
      () => call(`${app.url}/api/v1/sms`),
      ({ status }) => status === 503,
    );
    box.waiting[0]?.();
    await pipeline.until(({ closed: isClosed }) => isClosed);
    await closed;
    expect(pipeline.received.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  test('is not delayed by a stream or by a client that has left', async () => {
    const { app, box, raw, handling } = await start();
    const gone = await raw(post('slow'));
    await handling(1);
    const stream = await raw('GET /api/v1/stream HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\n\r\n');
    await handling(2);
    const { closed } = closing(app);
    gone.socket.destroy();
    // The server closes after the hooks, so only the stream keeps it open now.
    await until(() => isRefused(app.port));
    box.waiting[1]?.();
    await closed;
    await stream.until(({ closed: isClosed }) => isClosed);
    expect(stream.received).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/i);
  });
});

describe('a shutdown over HTTP/2 (fastify)', () => {
  test('lets active streams end, and the connection with them', async () => {
    const toys = toyModule({}, new FakeClock());
    const app = opened(await startApp(hostModule(toys), 'fastify', { platform: new FastifyAdapter({ http2: true }) }));
    const box = app.app.get(ToyBox);
    const client = connect(app.url);
    const stream = client.request({ 'x-api-key': 'good', ':method': 'POST', ':path': '/api/v1/slow' });
    let answer = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    stream.end();
    await until(() => box.waiting.length === 1);
    const { closed } = closing(app);
    await until(() => client.closed);
    box.waiting[0]?.();
    await closed;
    expect(JSON.parse(answer)).toEqual({ late: true });
  });
});
