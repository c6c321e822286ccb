import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type DynamicModule, Global, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { Clock } from '../../../src/common/clock.js';
import { Rounds } from '../../../src/common/concurrency/rounds.js';
import { MessagingOptionsError, StorageUnavailableError } from '../../../src/common/errors.js';
import { IdGenerator, UuidGenerator } from '../../../src/common/ids.js';
import { HostGlobalsModule } from '../../../src/http/host-globals.js';
import { HttpSettings, resolveHttpSettings } from '../../../src/http/http-options.js';
import { MediaStore } from '../../../src/media/media-store.js';
import { MessagingModule } from '../../../src/messaging/messaging.module.js';
import type { MessagingOptions } from '../../../src/messaging/module-options.js';
import { Purger } from '../../../src/outbox/purger.js';
import { ErasureRules } from '../../../src/outbox/retention/erasure-service.js';
import { RetentionSettings } from '../../../src/outbox/retention/retention-options.js';
import { type PhoneMessage, PhoneStore } from '../../../src/sandbox/phones/phone-store.js';
import { SandboxModule } from '../../../src/sandbox/sandbox.module.js';
import { type PhoneListener, SandboxFeed } from '../../../src/sandbox/sandbox-feed.js';
import { sandboxMedia } from '../../../src/sandbox/sandbox-media.js';
import { SandboxScanner } from '../../../src/sandbox/sandbox-scanner.js';
import { SandboxSmsTransport } from '../../../src/sandbox/sandbox-sms-transport.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { RoutedSmsTransport } from '../../../src/transports/routed/routed-sms-transport.module.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { OPTIONS } from '../../support/mounting/messaging-app.js';
import { RecordingTransport } from '../../support/outbox/recording-transport.js';

/** Lets a test wait until somebody listens, or until nobody does any more. */
class WatchedFeed extends SandboxFeed {
  listening = 0;

  override listen(listener: PhoneListener): () => void {
    const stop = super.listen(listener);
    this.listening += 1;
    return () => {
      this.listening -= 1;
      stop();
    };
  }
}

const phones = async () => (await SqliteMemory.open()).store(PhoneStore);

/** Stands in for the messaging core. */
@Global()
@Module({})
class CoreModule {
  static forRoot(clock: FakeClock, media: MediaStore): DynamicModule {
    return {
      module: CoreModule,
      imports: [HostGlobalsModule],
      providers: [
        { provide: Clock, useValue: clock },
        { provide: IdGenerator, useClass: UuidGenerator },
        { provide: MediaStore, useValue: media },
        { provide: HttpSettings, useValue: resolveHttpSettings() },
        Purger,
        Rounds,
        ErasureRules,
        { provide: RetentionSettings, useValue: { keys: [] } },
      ],
      exports: [
        HostGlobalsModule,
        Clock,
        IdGenerator,
        MediaStore,
        HttpSettings,
        Purger,
        ErasureRules,
        RetentionSettings,
      ],
    };
  }
}

let closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  // Clients before the server, because the server may wait for them.
  for (const close of closing.reverse()) await close();
  closing = [];
});

interface Setup {
  readonly store?: PhoneStore;
  readonly modules?: readonly DynamicModule[];
  readonly prefix?: string;
}

function message(fields: Partial<PhoneMessage> = {}): PhoneMessage {
  return {
    messageId: 'sms-1',
    channel: 'sms',
    from: 'INFOS',
    to: '22670000000',
    text: 'Bonjour',
    media: undefined,
    receivedAt: Date.UTC(2026, 10, 21, 10),
    ...fields,
  };
}

const adapters = [
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const;

describe.each(adapters)('the sandbox on %s', (_, adapter) => {
  async function start({ store: given, modules = [SandboxModule.forRoot()], prefix }: Setup = {}) {
    const storage = await SqliteMemory.open();
    const store = given ?? storage.store(PhoneStore);
    const clock = new FakeClock();
    const feed = new WatchedFeed();
    const built = await Test.createTestingModule({
      imports: [CoreModule.forRoot(clock, storage.store(MediaStore)), ...modules],
    })
      .overrideProvider(PhoneStore)
      .useValue(store)
      .overrideProvider(SandboxFeed)
      .useValue(feed)
      .compile();
    const app: INestApplication = built.createNestApplication(adapter(), { logger: false });
    if (prefix) app.setGlobalPrefix(prefix);
    closing.push(() => app.close());
    await app.listen(0, '127.0.0.1');
    // An idle connection that nobody closes would stay forever, so closing must really close it.
    app.getHttpServer().keepAliveTimeout = 0;
    const base = (await app.getUrl()).replace('[::1]', '127.0.0.1');
    return { app, base, clock, feed, store, media: storage.store(MediaStore), scanner: app.get(SandboxScanner) };
  }

  /** The answer to a request with this `Host`, and whether it shows the sandbox's text. */
  async function underHost(base: string, host: string, path = '/sandbox/phones') {
    const request = get(`${base}${path}`, { headers: { host }, agent: false });
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    let text = '';
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    return { status: response.statusCode, text };
  }

  test.each([
    '/sandbox',
    '/sandbox/phones',
    '/sandbox/codes',
    '/sandbox/links',
    '/sandbox/events',
    '/sandbox/media/photo.jpg',
    '/sandbox/phones/22670000000/screen',
    '/sandbox/phones/22670000000/messages/sms-1/media',
  ])('shows nothing to a page whose own name resolves to this machine: %s', async (path) => {
    const { base, store } = await start();
    await store.receive([message({ text: 'The code is 123456' })]);
    for (const host of ['rebound.example', 'rebound.example:3000', '127.0.0.1.rebound.example', 'localhost.example']) {
      const { status, text } = await underHost(base, host, path);
      expect([status, JSON.parse(text)]).toEqual([
        403,
        { statusCode: 403, message: "Le bac à sable ne répond pas à ce nom d'hôte", error: 'Forbidden' },
      ]);
    }
  });

  test('answers to the names of this machine, and to those that the host configures', async () => {
    const { base } = await start({ modules: [SandboxModule.forRoot({ hosts: ['Sms.Example.test'] })] });
    for (const host of [
      'localhost',
      'LOCALHOST:3000',
      '127.0.0.1:80',
      '127.0.0.2',
      '[::1]',
      '[::1]:3000',
      'sms.example.test:8080',
    ]) {
      expect(await underHost(base, host)).toMatchObject({ status: 200 });
    }
    expect((await underHost(base, 'other.example.test')).status).toBe(403);
  });

  /** Opens a stream and collects what arrives. */
  async function open(url: string) {
    const request = get(url, { headers: { accept: 'text/event-stream' } });
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (!response) throw new Error('no response');
    const stream = { response, text: '', ended: false, broken: false };
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      stream.text += chunk;
    });
    response.once('end', () => {
      stream.ended = true;
    });
    response.once('error', () => {
      stream.broken = true;
    });
    closing.push(async () => {
      request.destroy();
    });
    return stream;
  }

  /** The data of a stream's events so far. */
  function eventsOf(text: string): unknown[] {
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''));
  }

  test('shows what a phone received, oldest first, in the documented shape', async () => {
    const { base, store } = await start();
    const media = { type: 'image' as const, mimetype: 'image/jpeg', size: 7, sha256: 'ab', caption: undefined };
    await store.receive([
      message({ messageId: 'b', receivedAt: Date.UTC(2026, 10, 21, 10, 0, 2), channel: 'msgapp', text: '', media }),
      message({ messageId: 'a', receivedAt: Date.UTC(2026, 10, 21, 10, 0, 1), text: 'Un\nDeux €' }),
      message({ messageId: 'c', to: '22670000001' }),
    ]);
    const answer = await fetch(`${base}/sandbox/phones/22670000000/messages`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await answer.json()).toEqual([
      {
        messageID: 'a',
        channel: 'sms',
        from: 'INFOS',
        to: '22670000000',
        text: 'Un\nDeux €',
        media: null,
        receivedAt: '2026-11-21T10:00:01.000Z',
      },
      {
        messageID: 'b',
        channel: 'msgapp',
        from: 'INFOS',
        to: '22670000000',
        text: '',
        media: { type: 'image', mimetype: 'image/jpeg', size: 7, sha256: 'ab', caption: null },
        receivedAt: '2026-11-21T10:00:02.000Z',
      },
    ]);
  });

  test('shows an empty list for a phone that received nothing', async () => {
    const { base } = await start();
    const answer = await fetch(`${base}/sandbox/phones/22670000000/messages`);
    expect([answer.status, await answer.json()]).toEqual([200, []]);
  });

  test.each(['+22670000000', '022670000000', '123456', '1234567890123456', '2267000000x', '<img src=x onerror=x>'])(
    'refuses the number %s and names it',
    async (number) => {
      const { base } = await start();
      const answer = await fetch(`${base}/sandbox/phones/${encodeURIComponent(number)}/messages`);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await answer.json()).toEqual({
        statusCode: 400,
        message: `Numéro invalide : ${number}`,
        error: 'Bad Request',
      });
    },
  );

  test('names no more than the first characters of a long number', async () => {
    const { base } = await start();
    const answer = await fetch(`${base}/sandbox/phones/${'9'.repeat(100)}/messages`);
    expect(await answer.json()).toEqual({
      statusCode: 400,
      message: `Numéro invalide : ${'9'.repeat(63)}…`,
      error: 'Bad Request',
    });
  });

  test('answers 503 in the same shape while the phones’ database is unavailable', async () => {
    const store = await phones();
    store.messages = async () => {
      throw new StorageUnavailableError('away');
    };
    const { base } = await start({ store });
    const answer = await fetch(`${base}/sandbox/phones/22670000000/messages`);
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { statusCode: 503, message: 'Service momentanément indisponible', error: 'Service Unavailable' },
    ]);
  });

  test('shows the newest messages over all phones, newest first', async () => {
    const { base, store } = await start();
    const sent = Array.from({ length: 501 }, (_none, at) =>
      message({ messageId: `m${at}`, to: `2267000${1000 + at}`, receivedAt: at }),
    );
    await store.receive(sent);
    const answer = await fetch(`${base}/sandbox/phones`);
    const newest = sent.slice(1).reverse();
    expect(await answer.json()).toEqual(
      newest.map(({ messageId }) => expect.objectContaining({ messageID: messageId, media: null })),
    );
  });

  describe('the live stream', () => {
    test('reports each new message, and keeps the connection alive', async () => {
      const { base, clock, feed } = await start();
      const stream = await open(`${base}/sandbox/events`);
      expect(stream.response.statusCode).toBe(200);
      expect(stream.response.headers['content-type']).toMatch(/^text\/event-stream/);
      expect(stream.response.headers['cache-control']).toMatch(/no-cache/);
      await eventually(() => feed.listening === 1);

      feed.publish([message({ text: 'Un\nDeux\r\nTrois €' }), message({ messageId: 'sms-2' })]);
      await eventually(() => eventsOf(stream.text).length === 2);
      expect(eventsOf(stream.text)).toEqual([
        expect.objectContaining({ messageID: 'sms-1', text: 'Un\nDeux\r\nTrois €', media: null }),
        expect.objectContaining({ messageID: 'sms-2', receivedAt: '2026-11-21T10:00:00.000Z' }),
      ]);
      expect(stream.text).not.toMatch(/^event:/m);

      clock.advance(14_999);
      feed.publish([message({ messageId: 'sms-3' })]);
      await eventually(() => eventsOf(stream.text).length === 3);
      expect(stream.text).not.toContain(': heartbeat');
      clock.advance(1);
      await eventually(() => stream.text.includes(': heartbeat'));
      clock.advance(15_000);
      await eventually(() => stream.text.split(': heartbeat').length === 3);
    });

    test('forgets a client that leaves', async () => {
      const { base, feed } = await start();
      const stream = await open(`${base}/sandbox/events`);
      await eventually(() => feed.listening === 1);
      stream.response.destroy();
      await eventually(() => feed.listening === 0);
    });

    test('ends completely when the application closes, and delays nothing', async () => {
      const { app, base, feed } = await start();
      const streams = [await open(`${base}/sandbox/events`), await open(`${base}/sandbox/events`)];
      await eventually(() => feed.listening === 2);
      feed.publish([message({ text: 'le dernier' })]);
      await app.close();
      await eventually(() => streams.every(({ ended }) => ended));
      for (const { text, broken } of streams) {
        expect(text).toContain('le dernier');
        expect(broken).toBe(false);
      }
      expect(feed.listening).toBe(0);
    });

    /** A client that asks for events and never reads one. */
    async function openDeaf(base: string, feed: WatchedFeed): Promise<void> {
      const socket = connect(Number(new URL(base).port), '127.0.0.1').pause();
      closing.push(async () => {
        socket.destroy();
      });
      socket.on('error', () => {});
      socket.write('GET /sandbox/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await eventually(() => feed.listening === 1);
    }

    /** Publishes large messages while somebody listens, at most `most`. Returns how many. */
    async function flood(feed: WatchedFeed, most: number): Promise<number> {
      let sent = 0;
      for (; sent < most && feed.listening > 0; sent += 1) {
        feed.publish([message({ text: 'x'.repeat(100_000) })]);
        await setImmediate();
      }
      return sent;
    }

    test('drops a client that does not read, instead of storing what it misses', async () => {
      const { base, feed } = await start();
      await openDeaf(base, feed);
      // The system's own buffers take some megabytes before ours begin to fill.
      expect(await flood(feed, 1_000)).toBeLessThan(1_000);
      expect(feed.listening).toBe(0);
    });

    test('lets the application close even if a client does not read', async () => {
      const { app, base, feed } = await start();
      await openDeaf(base, feed);
      const enough = await flood(feed, 1_000);
      await openDeaf(base, feed);
      // Almost enough to drop the client: the system's buffers are full, and our backlog is not.
      await flood(feed, enough - 5);
      await app.close();
      expect(feed.listening).toBe(0);
    });
  });

  describe('the codes to scan', () => {
    const CODE = { qr: 'sandbox:msgapp:1', channel: 'msgapp', sessionId: 's1' };
    const scan = (base: string, number: string, body: unknown) =>
      fetch(`${base}/sandbox/phones/${number}/scan`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const codesAt = async (base: string) => (await fetch(`${base}/sandbox/codes`)).json();

    test('are shown as long as they can be scanned, and listeners are notified of every change', async () => {
      const { base, feed, scanner } = await start();
      expect(await codesAt(base)).toEqual([]);
      const stream = await open(`${base}/sandbox/events`);
      await eventually(() => feed.listening === 1);
      const hide = scanner.show(CODE, async () => true);
      expect(await codesAt(base)).toEqual([
        {
          qr: 'sandbox:msgapp:1',
          channel: 'msgapp',
          sessionID: 's1',
          image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        },
      ]);
      await eventually(() => stream.text.includes('event: codes'));
      hide();
      hide();
      expect(await codesAt(base)).toEqual([]);
      await eventually(() => eventsOf(stream.text).length === 2);
      expect(eventsOf(stream.text)).toEqual([{ count: 1 }, { count: 0 }]);
      expect(stream.text.match(/^event: codes$/gm)).toHaveLength(2);
    });

    test('are scanned once, with the requested number', async () => {
      const { base, scanner } = await start();
      const scanned: string[] = [];
      scanner.show(CODE, async (number) => scanned.push(number) > 0);
      const answer = await scan(base, '22670000100', { qr: CODE.qr });
      expect([answer.status, await answer.text()]).toEqual([204, '']);
      for (const qr of [CODE.qr, 'sandbox:msgapp:2', '']) {
        const late = await scan(base, '22670000101', { qr });
        expect([late.status, await late.json()]).toEqual([
          404,
          { statusCode: 404, message: 'Code QR introuvable ou expiré', error: 'Not Found' },
        ]);
      }
      expect(scanned).toEqual(['22670000100']);
    });

    test('of a session that no longer wants a number are not found', async () => {
      const { base, scanner } = await start();
      scanner.show(CODE, async () => false);
      expect((await scan(base, '22670000100', { qr: CODE.qr })).status).toBe(404);
    });

    test.each<[string, string, unknown, string]>([
      ['no code', '22670000100', {}, 'Le champ qr est obligatoire'],
      ['a code that is not a string', '22670000100', { qr: 1 }, 'Le champ qr doit être une chaîne de caractères'],
      ['a malformed number', '+22670000100', { qr: CODE.qr }, 'Numéro invalide : +22670000100'],
    ])('are not used up by a scan with %s', async (_none, number, body, message) => {
      const { base, scanner } = await start();
      scanner.show(CODE, async () => true);
      const answer = await scan(base, number, body);
      expect([answer.status, await answer.json()]).toEqual([400, { statusCode: 400, message, error: 'Bad Request' }]);
      expect(await codesAt(base)).toHaveLength(1);
    });
  });

  test.each([
    ['photo.jpg', 'image/jpeg'],
    ['clip.mp4', 'video/mp4'],
    ['document.pdf', 'application/pdf'],
    ['voice.ogg', 'audio/ogg; codecs=opus'],
  ])('has a small file to send: %s', async (name, type) => {
    const { base } = await start();
    const answer = await fetch(`${base}/sandbox/media/${name}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.equals(sandboxMedia(name)?.bytes ?? Buffer.alloc(0))).toBe(true);
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
    expect(bytes.length).toBeGreaterThan(100);
  });

  test.each(['none.jpg', '..%2Fpackage.json', '__proto__'])('has no file %s', async (name) => {
    const { base } = await start();
    const answer = await fetch(`${base}/sandbox/media/${name}`);
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { statusCode: 404, message: 'Fichier introuvable', error: 'Not Found' },
    ]);
  });

  describe('the file of a message', () => {
    const RECEIVED = '/sandbox/phones/22670000000/messages';

    async function withFile(mimetype: string, bytes: Uint8Array) {
      const all = await start();
      const chunks = async function* () {
        for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000);
      };
      await all.media.write('copy', chunks(), 0);
      const media = { type: 'image' as const, mimetype, size: bytes.length, sha256: 'ab', caption: undefined };
      await all.store.receive([{ ...message({ media }), fileId: 'copy' }]);
      const read = (range?: string) =>
        fetch(`${all.base}${RECEIVED}/sms-1/media`, { headers: range === undefined ? {} : { range } });
      return { ...all, read };
    }

    test.each([
      ['image/png', 'image/png', null],
      ['IMAGE/JPEG; x=y', 'image/jpeg', null],
      ['audio/ogg; codecs=opus', 'audio/ogg', null],
      ['video/mp4', 'video/mp4', null],
      ['image/svg+xml', 'application/octet-stream', 'attachment'],
      ['text/html', 'application/octet-stream', 'attachment'],
      ['application/pdf', 'application/octet-stream', 'attachment'],
      ['text/html\r\nX-Injected: 1', 'application/octet-stream', 'attachment'],
    ])('that claims %s is served as %s, and can run nothing', async (mimetype, type, disposition) => {
      const { read } = await withFile(mimetype, Buffer.from('<svg onload="alert(1)"/>'));
      const answer = await read();
      expect([answer.status, await answer.text()]).toEqual([200, '<svg onload="alert(1)"/>']);
      const header = (name: string) => answer.headers.get(name);
      expect([header('content-type'), header('content-disposition')]).toEqual([type, disposition]);
      expect(header('x-content-type-options')).toBe('nosniff');
      expect(header('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(header('cross-origin-resource-policy')).toBe('same-origin');
      expect(header('x-injected')).toBeNull();
    });

    test('is sent as a whole, or in the range that a player asks for', async () => {
      const bytes = createHash('sha512').update('x').digest();
      const large = Buffer.concat(Array.from({ length: 10_000 }, () => bytes));
      const { read } = await withFile('video/mp4', large);
      expect(Buffer.from(await (await read()).arrayBuffer()).equals(large)).toBe(true);
      for (const [range, start, end] of [
        ['bytes=0-', 0, 640_000],
        ['bytes=262140-262150', 262_140, 262_151],
        ['bytes=-5', 639_995, 640_000],
        ['bytes=639990-999999', 639_990, 640_000],
      ] as const) {
        const answer = await read(range);
        expect([answer.status, answer.headers.get('content-range')]).toEqual([206, `bytes ${start}-${end - 1}/640000`]);
        expect(answer.headers.get('content-length')).toBe(String(end - start));
        expect(Buffer.from(await answer.arrayBuffer()).equals(large.subarray(start, end))).toBe(true);
      }
      for (const range of ['bytes=640000-', 'bytes=5-4', 'bytes=-', 'lines=1-2', 'bytes=0-1,5-6']) {
        const answer = await read(range);
        expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 640_000]);
      }
    });

    test('is not found if it was purged, or if the message has none', async () => {
      const { base, media, read } = await withFile('image/png', Buffer.from('abc'));
      await media.remove(['copy']);
      const others = ['/sms-2/media', '/copy/media', '/..%2F..%2Fcopy/media'].map((path) =>
        fetch(base + RECEIVED + path),
      );
      for (const answer of [await read(), ...(await Promise.all(others))]) {
        expect([answer.status, await answer.json()]).toEqual([
          404,
          { statusCode: 404, message: 'Fichier introuvable', error: 'Not Found' },
        ]);
      }
    });
  });

  test('shows the page the messages that did not arrive, and the kind of each message', async () => {
    const { base, store } = await start();
    await store.receive([message({ from: '22670000100', channel: 'msgapp', receivedAt: 2 })]);
    await store.lose([message({ messageId: 'lost', text: 'ê'.repeat(71), receivedAt: 1 })]);
    for (const path of ['phones', 'phones/22670000000/screen']) {
      expect(await (await fetch(`${base}/sandbox/${path}`)).json()).toMatchObject([
        { status: 'delivered', fromText: '+226 70 00 01 00', toText: '+226 70 00 00 00', segments: null, error: null },
        { messageID: 'lost', status: 'unknown', fromText: 'INFOS', segments: 2, units: null },
      ]);
    }
    expect(await (await fetch(`${base}/sandbox/phones/22670000000/messages`)).json()).toHaveLength(1);
  });

  describe('clearing', () => {
    const clear = (base: string, headers: Record<string, string> = {}) =>
      fetch(`${base}/sandbox/phones`, { method: 'DELETE', headers });

    test('removes messages and files, and notifies every client', async () => {
      const { base, clock, feed, media, store } = await start();
      await media.write('copy', (async function* () {})(), 0);
      await store.receive([{ ...message(), fileId: 'copy' }]);
      const stream = await open(`${base}/sandbox/events`);
      await eventually(() => feed.listening === 1);
      expect((await clear(base)).status).toBe(204);
      expect(await store.latest(5)).toEqual([]);
      await expect(media.read('copy')[Symbol.asyncIterator]().next()).rejects.toThrow('not stored');
      clock.advance(200);
      await eventually(() => stream.text.includes('event: changed'));
    });

    test.each([
      [{ 'sec-fetch-site': 'same-origin' }, 204],
      [{ origin: 'SELF' }, 204],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site', origin: 'SELF' }, 403],
      [{ 'sec-fetch-site': 'none' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
    ])('with the headers %j is answered %i', async (headers, status) => {
      const { base, store } = await start();
      await store.receive([message()]);
      const given = Object.entries(headers).map(([name, value]) => [name, value === 'SELF' ? base : value]);
      expect((await clear(base, Object.fromEntries(given))).status).toBe(status);
      expect(await store.latest(5)).toHaveLength(status === 204 ? 0 : 1);
    });
  });

  test('names the linked numbers as long as they are linked', async () => {
    const { base, scanner } = await start();
    const end = scanner.connect({ number: '22670000100', channel: 'msgapp', sessionId: 's1' });
    const links = async () => (await fetch(`${base}/sandbox/links`)).json();
    expect(await links()).toEqual([
      { number: '22670000100', numberText: '+226 70 00 01 00', channel: 'msgapp', sessionID: 's1' },
    ]);
    end();
    expect(await links()).toEqual([]);
  });

  test('gives the key to local requests only', async () => {
    const modules = [SandboxModule.forRoot({ apiKey: () => 'a "key"', hosts: ['proxy.example.test'] })];
    const { base } = await start({ modules });
    const shown = async (headers: Record<string, string>) => {
      const request = get(`${base}/sandbox`, { headers, agent: false });
      const [response]: IncomingMessage[] = await once(request, 'response');
      let text = '';
      for await (const chunk of response?.setEncoding('utf8') ?? []) text += chunk;
      return /data-key="(.*?)"/.exec(text)?.[1];
    };
    expect(await shown({ host: 'localhost:3000' })).toBe('a &#34;key&#34;');
    expect(await shown({ host: 'proxy.example.test' })).toBe('');
    for (const name of ['x-forwarded-for', 'forwarded', 'via']) {
      expect(await shown({ host: 'localhost', [name]: '192.0.2.1' })).toBe('');
    }
  });

  describe('the page', () => {
    test('is sent as a whole, with a policy that lets nothing else run or load', async () => {
      const { base } = await start();
      const answer = await fetch(`${base}/sandbox`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = answer.headers.get('content-security-policy') ?? '';
      const html = await answer.text();
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      for (const tag of ['style', 'script']) {
        const inner = new RegExp(`<${tag}>([^]*)</${tag}>`).exec(html)?.[1] ?? '';
        const hash = createHash('sha256').update(inner).digest('base64');
        expect(policy).toContain(`${tag}-src 'sha256-${hash}'`);
      }
      expect(policy).toContain("img-src 'self' data:; media-src 'self'");
      expect(html).not.toMatch(/<(script|link|img|iframe)[^>]*(src|href)="(?!data:)/);
      expect(html).not.toMatch(/ style=| on[a-z]+="/);
      expect(html).toMatch(/<main /);
    });

    test('contains nothing that somebody sent', async () => {
      const { base, store } = await start();
      const before = await (await fetch(`${base}/sandbox`)).text();
      await store.receive([message({ from: '<b>x</b>', text: '<img src=x onerror=alert(1)>' })]);
      expect(await (await fetch(`${base}/sandbox`)).text()).toBe(before);
    });
  });

  test('is at the paths that the host sets, several if need be, and nowhere else', async () => {
    const modules = [SandboxModule.forRoot({ path: '/essai/tel/' }), SandboxModule.forRoot({ path: 'deux' })];
    const { base, feed } = await start({ modules, prefix: 'hote' });
    for (const path of ['essai/tel', 'deux']) {
      const page = await fetch(`${base}/hote/${path}`);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain(`data-path="${path}" data-api="api/v1"`);
      expect((await fetch(`${base}/hote/${path}/phones`)).status).toBe(200);
      await open(`${base}/hote/${path}/events`);
    }
    await eventually(() => feed.listening === 2);
    expect((await fetch(`${base}/sandbox`)).status).toBe(404);
    expect((await fetch(`${base}/essai/tel/phones`)).status).toBe(404);
  });
});

test.each(['', '/', 'a b', 'a//b', ':number', '*', 'a?b'])('refuses the path "%s" with a sentence', (path) => {
  expect(() => SandboxModule.forRoot({ path })).toThrow(MessagingOptionsError);
  expect(() => SandboxModule.forRoot({ path })).toThrow(/option path must be .*"sandbox"/);
});

describe('the parts of the sandbox', () => {
  const PARTS = [PhoneStore, SandboxFeed, SandboxScanner];
  const partsWith = async (transport: NonNullable<MessagingOptions['sms']['transport']>) => {
    class AppModule {}
    const imports = [MessagingModule.forRoot({ ...OPTIONS, sms: { ...OPTIONS.sms, transport } })];
    const app = await NestFactory.createApplicationContext({ module: AppModule, imports }, { logger: false });
    closing.push(() => app.close());
    return PARTS.filter((part) => {
      try {
        return app.get(part, { strict: false }) instanceof part;
      } catch {
        return false;
      }
    });
  };

  test('do not exist in an application with other transports', async () => {
    expect(await partsWith(RecordingTransport)).toEqual([]);
  });

  test('come with its transport, also behind a route and in a subclass', async () => {
    class OwnSandbox extends SandboxSmsTransport {}
    const routed = RoutedSmsTransport.forRoot({ routes: [{ name: 'a', transport: OwnSandbox }] });
    expect(await partsWith(SandboxSmsTransport)).toEqual(PARTS);
    expect(await partsWith(routed)).toEqual(PARTS);
  });
});

test.each(['docs', '//other.example', 'javascript:alert(1)', '/a b', '', 5])('refuses the document %j', (docs) => {
  expect(() => SandboxModule.forRoot({ docs: docs as string })).toThrow(/option docs must be a path of this server/);
});

test('refuses a key that is not a function, without naming it', () => {
  const apiKey = 'msgk_secret' as unknown as () => string;
  expect(() => SandboxModule.forRoot({ apiKey })).toThrow(
    'SandboxModule: option apiKey must be a function that returns an API key; got a string.',
  );
});
