import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { UuidGenerator } from '../../../../src/common/ids.js';
import { FakeClock } from '../../../../src/testing/fake-clock.js';
import { HttpSmsTransport } from '../../../../src/transports/http/http-sms-transport.js';
import { closeAfterEach } from '../../../support/common/opened.js';
import { settled } from '../../../support/common/settled.js';
import { until } from '../../../support/common/until.js';
import { answer } from '../../../support/media/raw-server.js';
import { type ByteHandler, ByteServer } from '../../../support/transports/gateway/byte-server.js';
import { anSms } from '../../../support/transports/gateway/gateway-fixture.js';
import { acme } from '../../../support/transports/gateway/generic-double.js';

const opened = closeAfterEach();

beforeAll(() => Logger.overrideLogger(false));

const BODY = '{"id":"acme-1"}';
const JSON_TYPE = { 'content-type': 'application/json' };
const whole = answer(200, JSON_TYPE, BODY);
const SENT = [{ kind: 'sent', carrierIds: ['acme-1'] }];
const MALFORMED = [{ kind: 'unknown', error: 'malformed_answer' }];
const LOST = [{ kind: 'unknown', error: 'connection_lost' }];

/** A gateway that answers with raw bytes, and our transport. */
async function gateway(handle: ByteHandler) {
  const server = opened(await ByteServer.open(handle));
  const transport = new HttpSmsTransport({ vendor: acme(server.url) }, new FakeClock(), new UuidGenerator());
  await transport.start();
  opened({ close: () => transport.stop() });
  const submit = () => transport.submit([anSms()], new AbortController().signal);
  return { server, submit };
}

/** Always answers with the same bytes. */
const says =
  (...bytes: readonly (string | Buffer)[]): ByteHandler =>
  (socket) =>
    void socket.write(Buffer.concat(bytes.map((each) => Buffer.from(each))));

describe('interim answers that nobody asked for', () => {
  test.each([
    ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['100 with a header', 'HTTP/1.1 100 Continue\r\nServer: Microsoft-IIS/7.5\r\n\r\n'],
    ['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['100 of HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ['100 that says close', 'HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n'],
    ['100 with an empty body', 'HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n'],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n'],
    ['199', 'HTTP/1.1 199 Anything\r\n\r\n'],
    ['several', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n'],
  ])('are skipped on each request of a connection: %s', async (_, interim) => {
    const { server, submit } = await gateway(says(interim, whole));
    for (let request = 0; request < 3; request++) expect(await submit()).toEqual(SENT);
    expect(server.requests).toHaveLength(3);
    // undici opens a second connection if the first has not quite settled.
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  test('are skipped if they arrive byte by byte', async () => {
    const bytes = Buffer.concat([Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'), whole]);
    const { submit } = await gateway(async (socket) => {
      for (const byte of bytes) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
    });
    expect(await submit()).toEqual(SENT);
  });

  test('are not found in the body, even if it contains the same bytes', async () => {
    const body = `{"id":"acme-1","text":"HTTP/1.1 100 Continue\\r\\n"}`;
    const head = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`;
    const at = body.indexOf('HTTP');
    const { submit } = await gateway(async (socket) => {
      for (const piece of [head, body.slice(0, at), body.slice(at)]) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      }
    });
    expect(await submit()).toEqual(SENT);
  });

  test('leave the result unknown if no final answer follows', async () => {
    const { server, submit } = await gateway((socket) => void socket.end('HTTP/1.1 100 Continue\r\n\r\n'));
    expect(await submit()).toEqual(LOST);
    expect(server.requests).toHaveLength(1);
  });

  test('cannot switch to another protocol', async () => {
    const { submit } = await gateway(
      says('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n', whole),
    );
    expect(await submit()).toEqual(LOST);
  });

  test('of a megabyte leave the result unknown', async () => {
    const { submit } = await gateway(says(`HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(1_000_000)}`));
    expect((await submit())[0]?.kind).toBe('unknown');
  });
});

describe('an answer in an encoding that nobody asked for', () => {
  const bytes = Buffer.from(BODY);
  test.each([
    ['gzip', gzipSync(bytes)],
    ['x-gzip', gzipSync(bytes)],
    ['GZIP', gzipSync(bytes)],
    ['deflate', deflateSync(bytes)],
    ['deflate', deflateRawSync(bytes)],
    ['br', brotliCompressSync(bytes)],
    ['identity', bytes],
    ['', bytes],
    ['gzip, br', brotliCompressSync(gzipSync(bytes))],
    // A proxy has unpacked the body and left the header.
    ['gzip', bytes],
  ])('is read if the encoding is %s', async (encoding, body) => {
    const { server, submit } = await gateway(says(answer(200, { ...JSON_TYPE, 'content-encoding': encoding }, body)));
    expect(await submit()).toEqual(SENT);
    expect(server.requests[0]).toMatch(/\r\naccept-encoding: identity\r\n/i);
  });

  test.each([
    ['a bomb', 'gzip', gzipSync(Buffer.alloc(1_000_000, ' '))],
    ['a bomb', 'br', brotliCompressSync(Buffer.alloc(1_000_000, ' '))],
    ['a bomb', 'deflate', deflateSync(Buffer.alloc(1_000_000, ' '))],
    ['a bomb in a bomb', 'gzip, gzip', gzipSync(gzipSync(Buffer.alloc(1_000_000, ' ')))],
    ['half of it', 'gzip', gzipSync(bytes).subarray(0, 20)],
    ['an unknown one', 'zippy', bytes],
  ])('is not read if it is %s (%s)', async (_, encoding, body) => {
    const { submit } = await gateway(says(answer(200, { ...JSON_TYPE, 'content-encoding': encoding }, body)));
    expect(await submit()).toEqual(MALFORMED);
  });
});

describe('the charset of an answer', () => {
  const accents = '{"id":"acme-1","text":"déjà"}';
  test.each([
    ['a byte order mark', 'application/json', Buffer.from(`\ufeff${accents}`)],
    ['UTF-16 with a mark', 'application/json', Buffer.from(`\ufeff${accents}`, 'utf16le')],
    ['UTF-16LE without one', 'application/json', Buffer.from(accents, 'utf16le')],
    ['UTF-16BE without one', 'application/json', Buffer.from(accents, 'utf16le').swap16()],
    ['UTF-16 that is named', 'application/json; charset=UTF-16', Buffer.from(accents, 'utf16le')],
    ['ISO-8859-1 that is named', 'application/json; charset="ISO-8859-1"', Buffer.from(accents, 'latin1')],
    ['ISO-8859-1 that is not', 'application/json', Buffer.from(accents, 'latin1')],
    ['an unknown charset', 'application/json; charset=x-none', Buffer.from(accents)],
  ])('%s', async (_, type, body) => {
    const { submit } = await gateway(says(answer(200, { 'content-type': type }, body)));
    expect(await submit()).toEqual(SENT);
  });
});

describe('the end of an answer', () => {
  test.each<[string, ByteHandler]>([
    ['with the connection, HTTP/1.0', (socket) => void socket.end(`HTTP/1.0 200 OK\r\n\r\n${BODY}`)],
    ['with the connection, without a length', (socket) => void socket.end(`HTTP/1.1 200 OK\r\n\r\n${BODY}`)],
    ['with close announced', (socket) => void socket.end(answer(200, { connection: 'close' }, BODY))],
    ['with close announced and not done', (socket) => void socket.write(answer(200, { connection: 'close' }, BODY))],
    ['with keep-alive announced and the connection closed', (socket) => void socket.end(whole)],
    [
      'with trailers',
      says(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n${BODY}\r\n0\r\nX-Sum: 1\r\nX-Other: 2\r\n\r\n`),
    ],
    [
      'in chunks with extensions',
      says(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;a=b\r\n{"id"\r\na\r\n:"acme-1"}\r\n0\r\n\r\n`),
    ],
  ])('%s: the answer counts on every request', async (_, handle) => {
    const { server, submit } = await gateway(handle);
    for (let request = 0; request < 3; request++) expect(await submit()).toEqual(SENT);
    expect(server.requests).toHaveLength(3);
  });

  test.each<[string, ByteHandler, object]>([
    ['no content', says('HTTP/1.1 204 No Content\r\n\r\n'), MALFORMED],
    ['an empty body', says('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), MALFORMED],
    [
      'a reset in the body',
      (socket) => void socket.write(whole.subarray(0, -5), () => socket.resetAndDestroy()),
      MALFORMED,
    ],
    ['a close in the body', (socket) => void socket.end(whole.subarray(0, -5)), MALFORMED],
    ['a close in the head', (socket) => void socket.end('HTTP/1.1 200 OK\r\nConte'), LOST],
    ['a close before the head', (socket) => void socket.end(), LOST],
    ['too much', says(answer(200, JSON_TYPE, `${BODY}${' '.repeat(70_000)}`)), MALFORMED],
    [
      'a redirect',
      says('HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n'),
      [{ kind: 'retry', error: 'http_302' }],
    ],
  ])('%s: nothing is sent again', async (_, handle, result) => {
    const { server, submit } = await gateway(handle);
    expect(await submit()).toEqual(result);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a connection that the server closes between two requests', () => {
  test('is not used again, even by a request that begins before our side has noticed', async () => {
    let close: () => Promise<void> = async () => undefined;
    const { server, submit } = await gateway((socket) => {
      socket.write(whole);
      close = () => new Promise((resolve) => socket.end(resolve));
    });
    expect(await submit()).toEqual(SENT);
    await settled();
    await close();
    expect(await submit()).toEqual(SENT);
    expect(server.requests).toHaveLength(2);
    expect(server.connections).toBe(2);
  });

  test('with 408 leaves the next request its own answer', async () => {
    const { server, submit } = await gateway((socket, _, { inAll }) => {
      socket.write(whole);
      if (inAll > 1) return;
      setImmediate(() => socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
    });
    expect(await submit()).toEqual(SENT);
    await until(() => server.open === 0);
    expect(await submit()).toEqual(SENT);
  });

  test('with an answer that nobody asked for leaves the next request its own answer', async () => {
    const stray = answer(200, JSON_TYPE, '{"id":"another"}');
    const { server, submit } = await gateway((socket, _, { inAll }) => {
      socket.write(whole);
      if (inAll === 1) setImmediate(() => socket.write(stray));
    });
    expect(await submit()).toEqual(SENT);
    await until(() => server.open === 0);
    expect(await submit()).toEqual(SENT);
  });
});
