import { beforeEach, describe, expect, test } from '@jest/globals';
import type { MediaOptions } from '../../../src/media/media-options.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { collect } from '../../support/media/collect.js';
import { FetchFixture, PUBLIC } from '../../support/media/fetch-fixture.js';
import { NaiveMediaFetcher } from '../../support/media/naive-media-fetcher.js';
import { answer, type RawHandler, type RawRequest } from '../../support/media/raw-server.js';

/**
 * `/to?<location>` redirects to that location, `/hops/<n>?<location>` after n redirects to itself. Everything else is a
 * file.
 */
function serve({ line, socket }: RawRequest): void {
  const [, path = ''] = line.split(' ');
  const [where = '', query = ''] = path.split('?');
  const target = decodeURIComponent(query);
  const left = Number(where.slice('/hops/'.length));
  if (where === '/to') socket.end(answer(302, { location: target }, 'moved'));
  else if (left > 0) socket.end(answer(307, { location: left === 1 ? target : `/hops/${left - 1}?${query}` }));
  else socket.end(answer(200, {}, 'file'));
}

const to = (target: string) => `http://files.example/to?${encodeURIComponent(target)}`;
const through = (hops: number, target: string) => `http://files.example/hops/${hops}?${encodeURIComponent(target)}`;

const opened = closeAfterEach();
const open = async (handle: RawHandler, options?: MediaOptions) => opened(await FetchFixture.open(handle, options));

let fixture: FetchFixture;
beforeEach(async () => {
  fixture = await open(serve);
});

/** The addresses that were dialled, in order. */
const dialled = () => fixture.network.dialled.map(({ address }) => address);

/** What a naive fetcher gets for a URL. */
async function naively(url: string): Promise<string> {
  const fetcher = new NaiveMediaFetcher(fixture.network);
  const { body } = await fetcher.fetch({ url, maxBytes: 1000, signal: fixture.abort.signal });
  return (await collect(body)).toString();
}

const INWARD = ['http://127.0.0.1/', 'http://10.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/'];

describe('a redirect to an internal address', () => {
  test.each([1, 2, 3])('is refused at hop %i, and nothing internal sees a connection', async (hop) => {
    fixture.network.name('inside.example', ['10.0.0.1']);
    for (const target of [...INWARD, 'http://inside.example/']) {
      expect(await fixture.refusal(through(hop, target))).toBe('an address or port that is not allowed');
    }
    expect(new Set(dialled())).toEqual(new Set([PUBLIC]));
    expect(fixture.trap.connections).toBe(0);
  });

  test('leads a naive fetcher to the secret at each hop', async () => {
    fixture.network.name('inside.example', ['10.0.0.1']);
    for (const hop of [1, 2, 3]) {
      for (const target of [...INWARD, 'http://inside.example/'])
        expect(await naively(through(hop, target))).toBe('secret');
    }
    expect(fixture.trap.connections).toBe(15);
  });

  test.each([
    ['//127.0.0.1/', 'an address or port that is not allowed'],
    ['http://127.1\\@files.example/', 'an address or port that is not allowed'],
    ['http://localhost/', 'a private name'],
    ['http://files.example:22/', 'an address or port that is not allowed'],
    ['http://user:pass@files.example/', 'credentials in the URL'],
    ['file:///etc/passwd', 'neither http nor https'],
    ['data:text/plain,x', 'neither http nor https'],
    ['http://', 'not a URL'],
  ])('is refused however it is written: %.60s', async (target, reason) => {
    expect(await fixture.refusal(to(target))).toBe(reason);
    expect(dialled()).toEqual([PUBLIC]);
  });
});

describe('a name whose address changes', () => {
  test('is looked up once, and the connection goes to the address that was checked', async () => {
    fixture.network.name('rebind.example', [PUBLIC], ['127.0.0.1']);
    expect(await fixture.bytes('http://rebind.example/')).toBe('file');
    expect(fixture.network.lookups).toEqual(['rebind.example']);
    expect(dialled()).toEqual([PUBLIC]);
    expect(fixture.trap.connections).toBe(0);
  });

  test('leads a naive fetcher to the secret', async () => {
    fixture.network.name('rebind.example', [PUBLIC], ['127.0.0.1']);
    expect(await naively('http://rebind.example/')).toBe('secret');
    expect(fixture.trap.connections).toBe(1);
  });

  test('is checked again at each redirect', async () => {
    fixture.network.name('rebind.example', [PUBLIC], ['10.0.0.1']);
    const again = encodeURIComponent('http://rebind.example/');
    expect(await fixture.refusal(`http://rebind.example/to?${again}`)).toBe('an address or port that is not allowed');
    expect(fixture.network.lookups).toEqual(['rebind.example', 'rebind.example']);
    expect([dialled(), fixture.trap.connections]).toEqual([[PUBLIC], 0]);
  });

  test('is not looked up again if the connection breaks', async () => {
    fixture = await open(({ socket }) => socket.destroy());
    fixture.network.name('rebind.example', [PUBLIC], ['127.0.0.1']);
    expect(await fixture.refusal('http://rebind.example/')).toBe('the connection failed');
    expect([fixture.network.lookups.length, dialled(), fixture.trap.connections]).toEqual([1, [PUBLIC], 0]);
  });
});

describe('redirects', () => {
  test('are followed three times at most', async () => {
    expect(await fixture.bytes(through(3, '/file'))).toBe('file');
    expect(fixture.server.requests.map(({ line }) => line.split(/[ ?]/)[1])).toEqual([
      '/hops/3',
      '/hops/2',
      '/hops/1',
      '/file',
    ]);
    expect(await fixture.refusal(through(4, '/file'))).toBe('too many redirects');
    expect(fixture.server.requests).toHaveLength(8);
  });

  test('in a loop come to an end', async () => {
    fixture = await open(({ line, socket }) => socket.end(answer(301, { location: line.split(' ')[1] ?? '' })));
    expect(await fixture.refusal('http://files.example/loop')).toBe('too many redirects');
    expect(fixture.server.requests).toHaveLength(4);
  });

  test.each([301, 302, 303, 307, 308])('of status %i are followed', async (status) => {
    fixture = await open(({ line, socket }) =>
      socket.end(line.includes('/a ') ? answer(status, { location: 'b' }, 'moved') : answer(200, {}, line)),
    );
    expect(await fixture.bytes('http://files.example/a')).toBe('GET /b HTTP/1.1');
  });

  test.each<[string, Buffer]>([
    ['without a target', answer(302, {}, 'moved')],
    ['to an endless URL', answer(302, { location: `/${'a'.repeat(8001)}` })],
    ['with two targets', Buffer.from('HTTP/1.1 302 X\r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 0\r\n\r\n')],
  ])('with %s are refused', async (_what, bytes) => {
    fixture = await open(({ socket }) => socket.end(bytes));
    expect(await fixture.refusal()).toMatch(/^(a redirect to nowhere|not a URL)$/);
  });

  test('do not wait for a body that never ends', async () => {
    fixture = await open(({ line, socket }) => {
      if (line.includes('/b')) return void socket.end(answer(200, {}, 'file'));
      socket.write(answer(302, { location: '/b', 'transfer-encoding': 'chunked' }, '3e8\r\n'));
    });
    expect(await fixture.bytes()).toBe('file');
  });
});

describe('exceptions that the host makes', () => {
  test('an origin is reached at its own address, also by a redirect; its neighbours are not', async () => {
    const allowed = await open(serve, { allow: ['http://intern.example:8080', 'http://10.0.0.1'] });
    allowed.network.name('intern.example', ['10.9.9.9']).route('10.9.9.9', allowed.server.port);
    expect(await allowed.bytes('http://intern.example:8080/a')).toBe('file');
    expect(await allowed.bytes('http://INTERN.example:8080/a')).toBe('file');
    expect(await allowed.bytes(to('http://intern.example:8080/a'))).toBe('file');
    expect(await allowed.bytes('http://10.0.0.1/')).toBe('secret');
    const dials = allowed.network.dialled.length;
    for (const url of [
      'http://intern.example/',
      'https://intern.example:8080/',
      'http://intern.example:8081/',
      'http://sub.intern.example:8080/',
      'http://10.0.0.1:8080/',
      'http://10.0.0.2/',
      'http://127.0.0.1/',
      'http://localhost/',
    ]) {
      allowed.network.name(new URL(url).hostname, ['10.9.9.9']);
      await allowed.refusal(url);
    }
    expect(allowed.network.dialled).toHaveLength(dials);
  });

  test('loopback is reached on any port by address and name; nothing else internal is', async () => {
    const allowed = await open(serve, { allow: 'loopback' });
    allowed.network.name('localhost', ['::1', '127.0.0.1']).name('inside.example', ['127.0.0.1', '10.0.0.1']);
    for (const url of [
      'http://127.0.0.1:3000/',
      'http://[::1]:3000/',
      'http://localhost:3000/',
      to('http://127.1:9/'),
    ]) {
      expect(await allowed.bytes(url)).toBe('secret');
    }
    allowed.network.route('::ffff:7f00:1', allowed.trap.port);
    expect(await allowed.bytes('http://[::ffff:127.0.0.1]:3000/')).toBe('secret');
    const dials = allowed.network.dialled.length;
    for (const url of [
      ...INWARD.slice(1, 2),
      ...INWARD.slice(3),
      'http://0.0.0.0/',
      'http://[::127.0.0.1]/',
      'http://printer.local/',
      'http://intranet/',
      'http://inside.example/',
      'http://files.example:3000/',
    ]) {
      await allowed.refusal(url);
    }
    expect(allowed.network.dialled).toHaveLength(dials);
  });
});

describe('the request', () => {
  test('has the path and the host, and nothing else of ours', async () => {
    const { socket, ...seen } = await (async () => {
      await fixture.bytes('http://files.example:443/a%20b/%C3%A9?x=1&y=é#part');
      return fixture.server.requests[0] as RawRequest;
    })();
    expect(socket.destroyed).toBe(true);
    expect(seen).toEqual({
      line: 'GET /a%20b/%C3%A9?x=1&y=%C3%A9 HTTP/1.1',
      headers: {
        host: 'files.example:443',
        connection: 'close',
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'nestjs-messaging',
      },
    });
  });

  test('goes through no proxy of the environment', async () => {
    const names = [
      'http_proxy',
      'HTTP_PROXY',
      'https_proxy',
      'HTTPS_PROXY',
      'all_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names)
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://127.0.0.1:${fixture.trap.port}`;
    try {
      expect(await fixture.bytes()).toBe('file');
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
    expect(fixture.trap.connections).toBe(0);
  });
});
