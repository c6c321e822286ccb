import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Controller, Get, Logger } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SetBackClock } from '../../support/common/set-back-clock.js';
import { until } from '../../support/common/until.js';
import { hostModule, ToyBox, toyModule } from '../../support/http/edge-toys.js';
import { type Adapter, describeOnBothAdapters, type RunningApp, startApp } from '../../support/http/http-apps.js';
import { call, RawConnection, type Reply } from '../../support/http/http-client.js';

const KEY = { 'x-api-key': 'good' };
const TIMEOUT = { statusCode: 504, message: 'Délai de traitement dépassé', error: 'Gateway Timeout' };
const TOO_LARGE = { statusCode: 413, message: 'Requête trop volumineuse', error: 'Payload Too Large' };
const UNAUTHORIZED = { statusCode: 401, message: 'Clé API manquante ou invalide', error: 'Unauthorized' };

/** Notices when somebody asks to be woken, which is when a request's time has begun. */
class WatchedClock extends SetBackClock {
  onAfter: () => void = () => {};

  override after(ms: number, task: () => void): () => void {
    const cancel = super.after(ms, task);
    this.onAfter();
    return cancel;
  }

  armed(): Promise<void> {
    return new Promise((resolve) => {
      this.onAfter = resolve;
    });
  }
}

@Controller('api/v1/sms')
class SlowHost {
  constructor(private readonly box: ToyBox) {}

  @Get('export')
  async export() {
    await this.box.wait();
    return { exported: true };
  }
}

/** Fastify with a logger, which would report a second answer. */
function platformThatNotes(adapter: Adapter, lines: string[]): { platform: FastifyAdapter } | object {
  if (adapter === 'express') return {};
  const stream = { write: (line: string) => void lines.push(line) };
  return { platform: new FastifyAdapter({ logger: { level: 'warn', stream } }) };
}

describeOnBothAdapters('the time limit of a request', (adapter) => {
  const logged: string[] = [];
  /** The server's ends of the connections. */
  const arrived: Socket[] = [];
  let clock: WatchedClock;
  let running: RunningApp;
  let box: ToyBox;

  beforeEach(async () => {
    clock = new WatchedClock();
    logged.length = 0;
    const note = (line: unknown): void => void logged.push(String(line));
    const toys = toyModule({ limits: { bodyBytes: 100_000 } }, clock);
    running = await startApp(hostModule(toys, { controllers: [SlowHost] }), adapter, {
      ...platformThatNotes(adapter, logged),
      options: { logger: { log: () => {}, warn: note, error: note } },
    });
    box = running.app.get(ToyBox);
    arrived.length = 0;
    running.app.getHttpServer().on('connection', (socket: Socket) => arrived.push(socket));
  });

  afterEach(async () => {
    await running.close();
    Logger.overrideLogger(false);
  });

  const begun = (): Promise<void> =>
    new Promise((resolve) => {
      box.onWaiting = resolve;
    });

  /** Starts a request and waits until its handler waits. */
  const hanging = async (path: string, method = 'GET', key = 'good'): Promise<{ reply: Promise<Reply> }> => {
    const waiting = begun();
    const reply = call(`${running.url}/api/v1/${path}`, { method, headers: { 'x-api-key': key } });
    await waiting;
    return { reply };
  };

  describe('whose handler hangs', () => {
    test('ends it after 30 s, not a moment before, and drops its late answer without logging', async () => {
      const { reply } = await hanging('slow', 'POST');
      clock.advance(29_999);
      expect(box.signals[0]?.aborted).toBe(false);
      clock.advance(1);
      expect(await reply).toMatchObject({ status: 504, body: TIMEOUT });
      expect(box.signals[0]?.aborted).toBe(true);

      box.waiting[0]?.();
      expect((await call(`${running.url}/api/v1/sms`, { headers: KEY })).status).toBe(200);
      expect(logged).toEqual([]);
    });

    test('ends it while the key is still being looked up', async () => {
      const { reply } = await hanging('echo', 'POST', 'stuck');
      clock.advance(30_000);
      expect(await reply).toMatchObject({ status: 504, body: TIMEOUT });
      box.waiting[0]?.();
      expect((await call(`${running.url}/api/v1/sms`, { headers: KEY })).status).toBe(200);
      expect([box.handled, logged]).toEqual([0, []]);
    });

    test('counts for each request from its own arrival', async () => {
      const first = await hanging('slow', 'POST');
      clock.advance(10_000);
      const second = await hanging('slow', 'POST');
      clock.advance(20_000);
      expect((await first.reply).status).toBe(504);
      expect(box.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
      box.waiting[1]?.();
      expect(await second.reply).toMatchObject({ status: 200, body: { late: true } });
    });

    test('does not apply to a route that streams, nor to a route of the host below our path', async () => {
      const ours = await hanging('stream');
      const host = await hanging('sms/export');
      clock.advance(3_600_000);
      for (const release of box.waiting) release();
      expect(await ours.reply).toMatchObject({ status: 200, body: { streamed: true } });
      expect(await host.reply).toMatchObject({ status: 200, body: { exported: true } });
    });

    test('does not matter to a client that has left: the signal is aborted at once', async () => {
      const waiting = begun();
      const connection = await RawConnection.open(running.port);
      connection.write('POST /api/v1/slow HTTP/1.1\r\nHost: x\r\nX-Api-Key: good\r\n\r\n');
      await waiting;
      const [signal] = box.signals;
      const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve));
      connection.socket.destroy();
      await aborted;
      box.waiting[0]?.();
      expect((await call(`${running.url}/api/v1/sms`, { headers: KEY })).status).toBe(200);
      expect(logged).toEqual([]);
    });

    test('stops once the request is answered', async () => {
      const { reply } = await hanging('slow', 'POST');
      box.waiting[0]?.();
      expect((await reply).status).toBe(200);
      clock.advance(60_000);
      expect(box.signals[0]?.aborted).toBe(false);
    });
  });

  /** Starts an upload as Python's `http.client` does: it keeps writing after our side of the connection is closed. */
  const upload = async (head: string, first = ''): Promise<RawConnection> => {
    const connection = await RawConnection.open(running.port, true);
    connection.write(
      `POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${head}\r\n\r\n${first}`,
    );
    return connection;
  };

  /** The server's end of a connection. */
  const serverSide = ({ socket }: RawConnection): Socket | undefined =>
    arrived.find(({ remotePort }) => remotePort === socket.localPort);

  /** Waits until the server has received everything that was written. */
  const received = async (connection: RawConnection): Promise<void> => {
    await until(() => (serverSide(connection)?.bytesRead ?? 0) >= connection.socket.bytesWritten);
  };

  /** Waits until the server has closed the connection for good. */
  const cut = async (connection: RawConnection): Promise<void> => {
    await until(() => serverSide(connection)?.destroyed);
    connection.socket.destroy();
  };

  describe('whose upload hangs', () => {
    test.each([
      ['Content-Length: 9', '{"a":', ' 1 }'],
      ['Transfer-Encoding: chunked', '5\r\n{"a":', '\r\n4\r\n 1 }\r\n0\r\n\r\n'],
    ])('ends it after 30 s as well, whatever comes then (%s)', async (head, first, rest) => {
      const armed = clock.armed();
      const connection = await upload(`X-Api-Key: good\r\n${head}`, first);
      await armed;
      clock.advance(30_000);
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.body).toEqual(TIMEOUT);
      expect(connection.received).toMatch(/^HTTP\/1\.1 504 [\s\S]*\r\nConnection: close\r\n/i);
      connection.write(rest);
      await cut(connection);
      expect([box.handled, logged]).toEqual([0, []]);
    });

    test('ends it in time if the clock is set back by an hour meanwhile, and also a request that begins after that', async () => {
      const armed = clock.armed();
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 100', '{"a":');
      await armed;
      clock.setBack(3_600_000);
      const second = await hanging('slow', 'POST');
      clock.advance(30_000);
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.body).toEqual(TIMEOUT);
      expect(await second.reply).toMatchObject({ status: 504, body: TIMEOUT });
    });

    test('cuts it off if the client does not react', async () => {
      const armed = clock.armed();
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 100');
      await armed;
      clock.advance(30_000);
      await connection.until(({ received }) => received.includes('}'));
      // The time of the request is over. It has 5 s more, whether it sends or not.
      clock.advance(4_999);
      connection.write('x');
      await received(connection);
      expect(serverSide(connection)?.destroyed).toBe(false);
      clock.advance(1);
      await cut(connection);
    });

    test('does not matter if the client gives up', async () => {
      const armed = clock.armed();
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 100', '{"a":');
      await armed;
      connection.socket.destroy();
      expect((await call(`${running.url}/api/v1/sms`, { headers: KEY })).status).toBe(200);
      clock.advance(30_000);
      expect([box.handled, logged]).toEqual([0, []]);
    });
  });

  describe('a client that waits for 100 Continue', () => {
    const JSON_TYPE = 'Content-Type: application/json\r\n';
    const expecting = async (head: string, path = 'echo', method = 'POST'): Promise<RawConnection> => {
      const connection = await RawConnection.open(running.port, true);
      connection.write(`${method} /api/v1/${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n${head}\r\n\r\n`);
      return connection;
    };

    test.each([
      ['without a key', `${JSON_TYPE}Content-Length: 7`, 401],
      ['without a key, of a length that it does not say', `${JSON_TYPE}Transfer-Encoding: chunked`, 401],
      ['with an unknown key', `X-Api-Key: nobody\r\n${JSON_TYPE}Content-Length: 7`, 401],
      ['without a key, with much', `${JSON_TYPE}Content-Length: 47000000`, 401],
      ['with too much', `X-Api-Key: good\r\n${JSON_TYPE}Content-Length: 100001`, 413],
      ['with a form', 'X-Api-Key: good\r\nContent-Type: text/plain\r\nContent-Length: 7', 415],
      ['with no type', 'X-Api-Key: slow\r\nTransfer-Encoding: chunked', 415],
    ])('is refused at once and gets no 100: %s', async (_what, head, status) => {
      const connection = await expecting(head);
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.received).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`, 'i'),
      );
      expect(connection.received).not.toContain('HTTP/1.1 100');
      connection.socket.end();
      await connection.until(({ closed }) => closed);
      expect([box.handled, connection.failure]).toEqual([0, undefined]);
    });

    test.each(['good', 'slow'])('is asked for its body once its key is known: %s', async (key) => {
      const connection = await expecting(`X-Api-Key: ${key}\r\n${JSON_TYPE}Content-Length: 7`);
      await connection.until(({ received }) => received.includes('\r\n\r\n'));
      expect(connection.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
      connection.write('{"a":1}');
      await connection.until(({ received }) => received.includes('"keys":["a"]'));
      connection.socket.destroy();
    });

    test('is asked for its body by the routes of the host', async () => {
      for (const [method, path] of [
        ['POST', 'nothing'],
        ['GET', 'sms/export'],
      ] as const) {
        const connection = await expecting('Content-Length: 7', path, method);
        await connection.until(({ received }) => received.includes('\r\n\r\n'));
        expect(connection.received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
        connection.socket.destroy();
      }
    });
  });

  describe('an upload that is refused', () => {
    test.each([
      ['a length above the limit', 'X-Api-Key: good\r\nContent-Length: 100001', 413, TOO_LARGE],
      ['a stranger with more than 64 KiB', 'Content-Length: 65537', 401, UNAUTHORIZED],
    ])('is answered before any byte of it has come: %s', async (_what, head, status, body) => {
      const connection = await upload(head);
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.received).toMatch(
        new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`, 'i'),
      );
      expect(connection.body).toEqual(body);
      connection.socket.end();
      await connection.until(({ closed }) => closed);
      expect(box.handled).toBe(0);
    });

    test.each([
      ['X-Api-Key: good\r\n', 413, TOO_LARGE],
      ['', 401, UNAUTHORIZED],
    ])('is cut in the middle if its length was not declared (%s)', async (key, status, body) => {
      const connection = await upload(`${key}Transfer-Encoding: chunked`);
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      connection.write(chunk + chunk);
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.received).toContain(`HTTP/1.1 ${status} `);
      expect(connection.body).toEqual(body);
    });

    test('is read to 16 MiB at most if the client keeps sending', async () => {
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 500000000');
      const block = Buffer.alloc(1_048_576, 120);
      let sent = 0;
      const goOn = (): void => {
        while (!connection.closed && !connection.socket.destroyed && connection.socket.write(block)) sent++;
        sent++;
      };
      connection.socket.on('drain', goOn);
      goOn();
      await connection.until(({ closed }) => closed);
      // Anything above that is in the buffers of the sockets.
      expect(sent).toBeLessThan(40);
      expect(sent).toBeGreaterThan(16);
    });

    test.each([
      ['a 413', 'X-Api-Key: good\r\n', 'Content-Length: 12000000', TOO_LARGE],
      ['a 413 of a length that was not said', 'X-Api-Key: good\r\n', 'Transfer-Encoding: chunked', TOO_LARGE],
      ['a 401', '', 'Content-Length: 12000000', UNAUTHORIZED],
    ])('gives %s to a client that writes its whole body before it reads', async (_what, key, length, expected) => {
      const connection = await upload(`${key}${length}`);
      connection.socket.pause();
      const bytes = Buffer.alloc(12_000_000, 120);
      const chunks = [Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n0\r\n\r\n')];
      const body = length.startsWith('T') ? Buffer.concat(chunks) : bytes;
      const written = new Promise<Error | null | undefined>((resolve) => connection.socket.write(body, resolve));
      expect((await written) ?? undefined).toBeUndefined();
      connection.socket.resume();
      await connection.until(({ received }) => received.includes('}'));
      expect(connection.body).toEqual(expected);
      await cut(connection);
      expect(connection.failure).toBeUndefined();
    });

    test('is read until the time of the request is over, as long as the client sends', async () => {
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 400000');
      await connection.until(({ received }) => received.includes('}'));
      for (let second = 4; second < 30; second += 4) {
        connection.write('x');
        await received(connection);
        clock.advance(4_000);
        await new Promise(setImmediate);
        expect(serverSide(connection)?.destroyed).toBe(false);
      }
      clock.advance(2_000);
      await cut(connection);
    });

    test('is cut off if nothing of it comes for 5 s', async () => {
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 400000', 'x');
      await connection.until(({ received }) => received.includes('}'));
      await received(connection);
      clock.advance(5_000);
      await new Promise(setImmediate);
      // The client has sent something meanwhile.
      expect(serverSide(connection)?.destroyed).toBe(false);
      clock.advance(5_000);
      await cut(connection);
    });

    test('is answered and closed if the client sends nothing more', async () => {
      const connection = await upload('X-Api-Key: good\r\nContent-Length: 400000');
      // Our side of the connection is closed at once, so a client that reads to the end has everything.
      const ended = new Promise((resolve) => connection.socket.once('end', resolve));
      await ended;
      expect(connection.body).toEqual(TOO_LARGE);
      connection.socket.end();
      await connection.until(({ closed }) => closed);
      expect(connection.failure).toBeUndefined();
    });
  });
});

describe('over HTTP/2 (fastify)', () => {
  test('cuts an upload with an answer and leaves the connection to other requests', async () => {
    const toys = toyModule({ limits: { bodyBytes: 100_000 } });
    const running = await startApp(hostModule(toys), 'fastify', { platform: new FastifyAdapter({ http2: true }) });
    const client = connect(running.url);
    const post = (body: Buffer | string): Promise<string> =>
      new Promise((resolve, reject) => {
        let answer = '';
        const stream = client.request({
          ...KEY,
          ':method': 'POST',
          ':path': '/api/v1/echo',
          'content-type': 'application/json',
        });
        stream.setEncoding('utf8').on('data', (text: string) => {
          answer += text;
        });
        stream.on('end', () => resolve(answer)).on('error', reject);
        stream.end(body);
      });
    try {
      expect(JSON.parse(await post(Buffer.alloc(2_000_000, 120)))).toEqual(TOO_LARGE);
      expect(JSON.parse(await post('{"a":1}'))).toMatchObject({ keys: ['a'] });
      expect(JSON.parse(await post(''))).toMatchObject({ keys: [] });
    } finally {
      client.destroy();
      await running.close();
    }
  });
});
