import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import type { WebhookConnections } from '../../../src/webhooks/calls/http/webhook-connections.js';
import type { WebhookOutcome } from '../../../src/webhooks/calls/http/webhook-exchange.js';
import { WebhookHttp } from '../../../src/webhooks/calls/http/webhook-http.js';
import { WebhookTargets } from '../../../src/webhooks/endpoints/webhook-targets.js';
import { resolveWebhookSettings, type WebhookOptions } from '../../../src/webhooks/webhook-options.js';
import { eventually } from '../../support/common/eventually.js';
import { until } from '../../support/common/until.js';
import { FakeNetwork } from '../../support/media/fake-network.js';
import { answer, type RawHandler, RawServer } from '../../support/media/raw-server.js';
import { testCertificate } from '../../support/media/test-certificate.js';

const PUBLIC = '93.184.216.34';
const REQUEST = { headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1' }, body: '{"a":1}' };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An endpoint `hooks.example` on https with a trusted certificate, at a public address that leads to our server. */
async function world(handle: RawHandler, options: Partial<WebhookOptions> = {}, host = 'hooks.example') {
  const certificate = testCertificate([host]);
  const server = await RawServer.open(handle, certificate);
  const trap = await RawServer.open(({ socket }) => socket.end(answer(200, {}, 'secret')));
  const network = new FakeNetwork().name('hooks.example', [PUBLIC]).route(PUBLIC, server.port);
  network.route('127.0.0.1', trap.port);
  network.authorities = [certificate.cert];
  const clock = new FakeClock();
  const settings = resolveWebhookSettings({ pepper: 'a pepper of the tests: 7d1Qm0xHcV2u', ...options });
  const http = new WebhookHttp(new WebhookTargets(settings, network), clock, network);
  const connections = (url = 'https://hooks.example/a?b=c') => {
    const made = http.connections(url);
    closing.push(() => made.close());
    return made;
  };
  closing.push(
    () => server.close(),
    () => trap.close(),
  );
  return { server, trap, network, clock, http, connections };
}

/** Makes a call that only the deadline ends. The clock stands still until the call is `underWay`. */
async function expired(
  clock: FakeClock,
  connections: WebhookConnections,
  underWay: () => boolean = () => true,
): Promise<WebhookOutcome> {
  let outcome: WebhookOutcome | undefined;
  void connections.post(REQUEST).then((ended) => {
    outcome = ended;
  });
  await until(underWay);
  await eventually(() => outcome, Boolean, { clock, stepMs: 500 });
  if (!outcome) throw new Error('It has not ended.');
  return outcome;
}

/** Like `world`, with a server that keeps connections open. */
async function keeping(handle: RequestListener) {
  const made = await world(ok);
  const certificate = testCertificate(['hooks.example']);
  const server = createServer(certificate, (request, response) => {
    request.resume().on('end', () => handle(request, response));
  });
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('secureConnection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  made.network.authorities = [certificate.cert];
  made.network.route(PUBLIC, (server.address() as AddressInfo).port);
  return { ...made, sockets, count: () => connections };
}

const ok: RawHandler = ({ socket }) => socket.write(answer(200, {}, 'thanks'));

test('a call carries its headers and its body, to the path and the query of the URL', async () => {
  const { server, connections } = await world(ok);
  const outcome = await connections().post(REQUEST);
  expect(outcome).toMatchObject({ status: 200, reply: 'thanks', error: undefined });
  const [request] = server.requests;
  expect(request?.line).toBe('POST /a?b=c HTTP/1.1');
  expect(request?.headers).toMatchObject({ host: 'hooks.example', 'webhook-id': 'evt_1', 'content-length': '7' });
});

test('a call by GET has headers and no body', async () => {
  const { server, connections } = await world(ok);
  const outcome = await connections().get({ 'user-agent': 'test' });
  expect(outcome).toMatchObject({ status: 200, reply: 'thanks', error: undefined });
  const [request] = server.requests;
  expect(request?.line).toBe('GET /a?b=c HTTP/1.1');
  expect(request?.headers).toMatchObject({ host: 'hooks.example', 'user-agent': 'test' });
  expect(request?.headers).not.toHaveProperty('content-length');
  expect(request?.headers).not.toHaveProperty('transfer-encoding');
});

describe('connections', () => {
  test('are kept, and each new one goes to an address that was checked for it', async () => {
    const { count, sockets, trap, network, connections } = await keeping((_, response) => response.end('thanks'));
    const calls = connections();
    await calls.post(REQUEST);
    await calls.post(REQUEST);
    expect(count()).toBe(1);
    expect(network.lookups).toEqual(['hooks.example']);
    // The name changes to 127.0.0.1 between two connections.
    network.name('hooks.example', ['127.0.0.1']);
    expect((await calls.post(REQUEST)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    expect((await calls.post(REQUEST)).error).toBe('unreachable');
    expect(network.dialled.map(({ address }) => address)).toEqual([PUBLIC]);
    expect(trap.connections).toBe(0);
  });

  test('carry one call at a time, and are reused by later calls', async () => {
    const waiting: ServerResponse[] = [];
    const { count, connections } = await keeping((_, response) => {
      // All are answered together. Otherwise a connection that waits idle for the slowest call could be closed.
      if (waiting.push(response) === 8) for (const each of waiting.splice(0)) each.end('thanks');
    });
    const calls = connections();
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => calls.post(REQUEST)));
      expect(outcomes.every(({ status }) => status === 200)).toBe(true);
    }
    expect(count()).toBe(8);
  });

  test('that a server closes after each answer lose and repeat nothing', async () => {
    const { server, connections } = await world(({ socket }) => socket.end(answer(200, {}, 'thanks')));
    const calls = connections();
    for (let call = 0; call < 20; call++) expect((await calls.post(REQUEST)).status).toBe(200);
    expect(server.requests).toHaveLength(20);
  });

  test('that a server closes when the next call arrives repeat it once and at once', async () => {
    const seen = new Map<Socket, number>();
    let requests = 0;
    const { connections } = await keeping(({ socket }, response) => {
      requests++;
      seen.set(socket, (seen.get(socket) ?? 0) + 1);
      if (seen.get(socket) === 2) socket.destroy();
      else response.end('thanks');
    });
    const calls = connections();
    expect((await calls.post(REQUEST)).status).toBe(200);
    expect((await calls.post(REQUEST)).status).toBe(200);
    expect(requests).toBe(3);
  });

  test('that were closed are not used for another call', async () => {
    let isHeld = () => {};
    const held = new Promise<void>((resolve) => {
      isHeld = resolve;
    });
    let requests = 0;
    const { count, connections } = await keeping((_, response) => (++requests === 1 ? response.end() : isHeld()));
    const link = connections();
    await link.post(REQUEST);
    const second = link.post(REQUEST);
    await held;
    link.close();
    expect(await second).toMatchObject({ status: undefined, error: 'connection_lost' });
    expect(count()).toBe(1);
  });

  test('that a server closes at once count as one failure and are not repeated', async () => {
    const { server, connections } = await world(({ socket }) => socket.destroy());
    expect(await connections().post(REQUEST)).toMatchObject({ status: undefined, error: 'connection_lost' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('endpoints that are refused', () => {
  test.each([
    ['a private address', 'https://10.0.0.1/'],
    ['loopback', 'https://127.0.0.1/'],
    ['http', 'http://hooks.example/'],
    ['a name with a private address', 'https://hooks.internal/'],
    ['a name without an address', 'https://nobody.example/'],
  ])('refuses %s', async (_, url) => {
    const { server, trap, network, connections } = await world(ok);
    expect(await connections(url).post(REQUEST)).toMatchObject({ status: undefined, error: 'unreachable' });
    expect([server.connections, trap.connections, network.dialled.length]).toEqual([0, 0, 0]);
  });

  test('accepts them if the host allows the origin', async () => {
    const { trap, connections, http } = await world(ok, { allow: ['http://127.0.0.1:8080'] });
    const own = connections('http://127.0.0.1:8080/');
    expect((await own.post(REQUEST)).status).toBe(200);
    expect([trap.connections, own.isPrivate]).toEqual([1, true]);
    const others = connections();
    expect([(await others.post(REQUEST)).status, others.isPrivate]).toEqual([200, false]);
    expect((await connections('http://127.0.0.1:8081/').post(REQUEST)).error).toBe('unreachable');
    expect(http.isAllowed('http://127.0.0.1:8080/x')).toBe(true);
    expect(http.isAllowed('https://hooks.example/')).toBe(false);
  });

  test('with loopback allowed, refuses http elsewhere', async () => {
    const { server, connections } = await world(ok, { allow: 'loopback' });
    expect((await connections('http://hooks.example/').post(REQUEST)).error).toBe('unreachable');
    expect(server.connections).toBe(0);
  });
});

describe('TLS', () => {
  test('of an unknown authority is a failure', async () => {
    const { network, connections, server } = await world(ok);
    network.authorities = undefined;
    expect(await connections().post(REQUEST)).toMatchObject({ status: undefined, error: 'tls_failed' });
    expect(server.requests).toHaveLength(0);
  });

  test('for another name is a failure', async () => {
    const { connections, server } = await world(ok, {}, 'other.example');
    expect(await connections().post(REQUEST)).toMatchObject({ status: undefined, error: 'tls_failed' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('an answer', () => {
  test.each([
    ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['100 that says close', 'HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n'],
    ['102 and 100', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nServer: x\r\n\r\n'],
    ['103', 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n'],
  ])('after an interim answer that nobody asked for counts: %s', async (_, interim) => {
    const { server, connections } = await world(({ socket }) => {
      // In two packets: the first one has only the interim answer.
      socket.write(interim, () => setImmediate(() => socket.write(answer(200, {}, 'thanks'))));
    });
    expect(await connections().post(REQUEST)).toMatchObject({ status: 200, reply: 'thanks', error: undefined });
    expect(server.requests).toHaveLength(1);
  });

  test('after an interim answer counts on a connection that is reused', async () => {
    const { count, connections } = await keeping((_, response) => {
      response.writeContinue();
      response.end('thanks');
    });
    const calls = connections();
    for (let call = 0; call < 3; call++) expect((await calls.post(REQUEST)).status).toBe(200);
    expect(count()).toBe(1);
  });

  test('that is a redirect is not followed', async () => {
    const { server, connections } = await world(({ socket }) =>
      socket.write(answer(302, { location: 'https://hooks.example/b' }, '')),
    );
    expect((await connections().post(REQUEST)).status).toBe(302);
    expect(server.requests).toHaveLength(1);
  });

  test('of 10 MB is cut at 2 KiB and judged by its status', async () => {
    const { server, connections } = await world(({ socket }) => {
      socket.on('error', () => undefined);
      socket.write(answer(200, {}, 'x'.repeat(10_000_000)));
    });
    const outcome = await connections().post(REQUEST);
    expect(outcome.status).toBe(200);
    expect(outcome.reply).toBe('x'.repeat(2048));
    await until(() => server.open === 0);
  });

  test('that sends a byte a second is cut at 15 s and judged by its status', async () => {
    const { clock, server, connections } = await world(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx');
      const drip = () => {
        socket.write('x');
        clock.after(1000, drip);
      };
      clock.after(1000, drip);
    });
    const began = clock.elapsed();
    const outcome = await expired(clock, connections(), () => server.requests.length === 1);
    expect(outcome).toMatchObject({ status: 200, error: undefined });
    expect(outcome.reply?.length).toBeLessThan(20);
    expect(clock.elapsed() - began).toBeLessThanOrEqual(16_000);
    await until(() => server.open === 0);
  });

  test('that never comes is a failure after 15 s', async () => {
    const { clock, server, connections } = await world(() => undefined);
    const outcome = await expired(clock, connections(), () => server.requests.length === 1);
    expect(outcome).toMatchObject({ status: undefined, error: 'timeout', ms: 15_000 });
    await until(() => server.open === 0);
  });

  test.each([
    ['one field of 64 KB', { 'x-long': 'x'.repeat(65_536) }],
    [
      '64 KB of cookies',
      Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`set-cookie-${n}`, 'x'.repeat(1024)])),
    ],
    ['2000 fields', Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`x-${n}`, 'x']))],
  ])('with %s is judged by its status, also on a connection that is reused', async (_name, headers) => {
    const { connections } = await keeping((_, response) => response.writeHead(200, headers).end('thanks'));
    const calls = connections();
    for (let call = 0; call < 2; call++) {
      expect(await calls.post(REQUEST)).toMatchObject({ status: 200, error: undefined, reply: 'thanks' });
    }
  });

  test('with 300 KB of headers is a failure', async () => {
    const { connections } = await world(({ socket }) => {
      socket.on('error', () => undefined);
      socket.write(answer(200, { 'x-long': 'x'.repeat(300_000) }, 'thanks'));
    });
    expect(await connections().post(REQUEST)).toMatchObject({ status: undefined, error: 'malformed_answer' });
  });

  test('that is compressed is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(1_000_000));
    const { connections } = await world(({ socket }) => {
      socket.write(answer(200, { 'content-encoding': 'gzip' }, bomb));
    });
    expect(await connections().post(REQUEST)).toMatchObject({ status: 200, reply: undefined });
  });

  test('that is not HTTP is a failure', async () => {
    const { connections } = await world(({ socket }) => socket.end('220 mail.example ESMTP\r\n'));
    expect(await connections().post(REQUEST)).toMatchObject({ status: undefined, error: 'malformed_answer' });
  });

  test('with a NUL is stored without it', async () => {
    const { connections } = await world(({ socket }) => socket.write(answer(500, {}, 'a\0b')));
    expect(await connections().post(REQUEST)).toMatchObject({ status: 500, reply: 'a\ufffdb' });
  });
});

test('a connection that is never established is a failure after 15 s, and is closed', async () => {
  const { clock, network, connections } = await world(ok);
  network.name('hooks.example', [PUBLIC, '93.184.216.35']).hole(PUBLIC).hole('93.184.216.35');
  expect(await expired(clock, connections())).toMatchObject({ status: undefined, error: 'unreachable' });
  await until(() => network.open === 0);
});
