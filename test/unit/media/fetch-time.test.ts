import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { collect } from '../../support/media/collect.js';
import { FetchFixture, PUBLIC, PUBLIC_V6 } from '../../support/media/fetch-fixture.js';
import { answer, type RawHandler } from '../../support/media/raw-server.js';

const opened = closeAfterEach();
const open = async (handle: RawHandler) => opened(await FetchFixture.open(handle));
/** A fixture whose server answers these bytes and closes the connection. */
const saying = (...bytes: (string | Buffer)[]) =>
  open(({ socket }) => socket.end(Buffer.concat(bytes.map((each) => Buffer.from(each)))));

describe('too slow', () => {
  const SILENT: RawHandler = () => {};
  const HEADERS = 'HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n';

  test('is a look-up that never returns', async () => {
    const fixture = await open(SILENT);
    fixture.network.onLookup = () => new Promise(() => {});
    const refusal = fixture.refusal();
    await until(() => fixture.network.lookups.length === 1);
    fixture.clock.advance(5000);
    expect(await refusal).toBe('no connection in time');
    expect(fixture.network.dialled).toEqual([]);
  });

  test('is a host that does not answer; the next address is tried, then the fetch fails', async () => {
    const fixture = await open(({ socket }) => socket.end(answer(200, {}, 'file')));
    fixture.network.name('half.example', ['1.1.1.1', '8.8.8.8', PUBLIC]).hole('1.1.1.1');
    const bytes = fixture.bytes('http://half.example/');
    await until(() => fixture.network.dialled.length === 1);
    fixture.clock.advance(2000);
    expect(await bytes).toBe('file');
    expect(fixture.network.dialled.map(({ address }) => address)).toEqual(['1.1.1.1', '8.8.8.8', PUBLIC]);

    fixture.network.name('hole.example', ['1.1.1.1', '1.1.1.1', '1.1.1.1', PUBLIC]);
    const refusal = fixture.refusal('http://hole.example/');
    for (let seen = 4; seen <= 6; seen++) {
      await until(() => fixture.network.dialled.length === seen);
      fixture.clock.advance(2000);
    }
    expect(await refusal).toBe('no connection in time');
    expect(fixture.network.dialled).toHaveLength(6);
  });

  test('is not a host with one broken address', async () => {
    const fixture = await open(({ socket }) => socket.end(answer(200, {}, 'file')));
    fixture.network.name('both.example', ['8.8.8.8', PUBLIC_V6]);
    expect(await fixture.bytes('http://both.example/')).toBe('file');
    fixture.network.name('down.example', ['8.8.8.8', '8.8.4.4', '1.1.1.1', PUBLIC]);
    expect(await fixture.refusal('http://down.example/')).toBe('the host does not answer');
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['a status line', 'HTTP/1.1 200 OK\r\n'],
    ['headers that do not end', 'HTTP/1.1 200 OK\r\nx: y\r\n'],
    ['early hints again and again', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)],
  ])('is an answer with %s', async (_what, bytes) => {
    const fixture = await open(({ socket }) => socket.write(bytes));
    const refusal = fixture.refusal();
    await until(() => fixture.server.requests.length === 1);
    fixture.clock.advance(14_999);
    await new Promise(setImmediate);
    expect(fixture.server.open).toBe(1);
    fixture.clock.advance(1);
    expect(await refusal).toBe('no answer in time');
  });

  test('is not a server that takes time before the answer and again before the file', async () => {
    const fixture = await open(() => {});
    const fetching = fixture.fetch();
    await until(() => fixture.server.requests.length === 1);
    const [asked] = fixture.server.requests;
    fixture.clock.advance(14_999);
    asked?.socket.write('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n');
    const bytes = collect((await fetching).body);
    fixture.clock.advance(14_999);
    asked?.socket.write('file');
    expect((await bytes).toString()).toBe('file');
    await fixture.quiet();
  });

  test('is a body that stops', async () => {
    const fixture = await open(({ socket }) => socket.write(`${HEADERS}${'a'.repeat(100_000)}`));
    let size = 0;
    const { body } = await fixture.fetch();
    const reading = (async () => {
      for await (const chunk of body) size += chunk.length;
    })();
    reading.catch(() => {});
    await until(() => size === 100_000);
    fixture.clock.advance(14_999);
    expect(fixture.server.open).toBe(1);
    fixture.clock.advance(1);
    await expect(reading).rejects.toMatchObject({ reason: 'too slow' });
    await fixture.quiet();
  });

  test('is a body that drips: a byte a second for a while, or a kilobyte a second for long', async () => {
    const drip = async (bytes: number, seconds: number) => {
      const fixture = await open(({ socket }) => socket.write(HEADERS));
      let size = 0;
      const { body } = await fixture.fetch();
      let reason: unknown;
      const reading = (async () => {
        for await (const chunk of body) size += chunk.length;
      })().catch((error) => {
        reason = error.reason;
      });
      let passed = 0;
      for (; passed < seconds && reason === undefined; passed++) {
        fixture.server.requests[0]?.socket.write('a'.repeat(bytes));
        await until(() => size === (passed + 1) * bytes);
        fixture.clock.advance(1000);
        await new Promise(setImmediate);
      }
      fixture.abort.abort();
      await reading;
      await fixture.quiet();
      return [passed, reason];
    };
    expect(await drip(1, 50)).toEqual([16, 'too slow']);
    expect(await drip(1100, 50)).toEqual([50, 'the request ended']);
  });

  test('is not the reader: its pauses between chunks do not count', async () => {
    const fixture = await saying(HEADERS, Buffer.alloc(900_000));
    let [size, pauses] = [0, 0];
    for await (const chunk of (await fixture.fetch()).body) {
      size += chunk.length;
      if (pauses++ < 3) fixture.clock.advance(16_000);
    }
    expect(size).toBe(900_000);
    await fixture.quiet();
  });

  test('is a fetch that nobody ends', async () => {
    const fixture = await saying(HEADERS, Buffer.alloc(900_000));
    const { body } = await fixture.fetch();
    fixture.clock.advance(60_000);
    await fixture.quiet();
    await expect(body[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'too slow' });
  });
});

describe('the end of the request ends the fetch', () => {
  test('before it began', async () => {
    const fixture = await open(() => {});
    fixture.abort.abort();
    expect(await fixture.refusal()).toBe('the request ended');
    expect([fixture.network.lookups, fixture.network.dialled]).toEqual([[], []]);
  });

  test('during the look-up', async () => {
    const fixture = await open(() => {});
    fixture.network.onLookup = () =>
      new Promise((resolve) => fixture.abort.signal.addEventListener('abort', () => resolve(), { once: true }));
    const refusal = fixture.refusal();
    await until(() => fixture.network.lookups.length === 1);
    fixture.abort.abort();
    expect(await refusal).toBe('the request ended');
    expect(fixture.network.dialled).toEqual([]);
  });

  test('during the connection', async () => {
    const fixture = await open(() => {});
    fixture.network.hole(PUBLIC);
    const refusal = fixture.refusal();
    await until(() => fixture.network.dialled.length === 1);
    fixture.abort.abort();
    expect(await refusal).toBe('the request ended');
  });

  test('before the answer', async () => {
    const fixture = await open(() => {});
    const refusal = fixture.refusal();
    await until(() => fixture.server.requests.length === 1);
    fixture.abort.abort();
    expect(await refusal).toBe('the request ended');
  });

  test('while a chunk is waited for, and while none is', async () => {
    for (const waiting of [true, false]) {
      const fixture = await open(({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nfile'));
      const chunks = (await fixture.fetch()).body[Symbol.asyncIterator]();
      expect((await chunks.next()).value?.toString()).toBe('file');
      const next = waiting ? chunks.next() : undefined;
      fixture.abort.abort();
      await fixture.quiet();
      await expect(next ?? chunks.next()).rejects.toMatchObject({ reason: 'the request ended' });
      expect(await chunks.next()).toEqual({ done: true, value: undefined });
    }
  });

  test('and so does a reader that stops', async () => {
    const fixture = await open(({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nfile'));
    for await (const _ of (await fixture.fetch()).body) break;
    await fixture.quiet();
    await (await fixture.fetch()).body[Symbol.asyncIterator]().return?.();
    await fixture.quiet();
  });
});
