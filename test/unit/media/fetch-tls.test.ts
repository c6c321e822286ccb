import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { FetchWorld, PUBLIC } from '../../support/media/fetch-world.js';
import { answer, type RawHandler } from '../../support/media/raw-server.js';
import { testCertificate } from '../../support/media/test-certificate.js';
import { closeAfterEach } from '../../support/opened.js';
import { until } from '../../support/until.js';

const opened = closeAfterEach();
const file: RawHandler = ({ socket }) => socket.end(answer(200, {}, 'file'));
const certificate = testCertificate(['files.example', 'secure.example', PUBLIC]);

/** A world whose server speaks TLS with a certificate, and whose fetcher trusts another, or that one. */
async function open(handle = file, own = certificate, trusted: string | undefined = own.cert): Promise<FetchWorld> {
  const world = opened(await FetchWorld.open(handle, {}, { ...own, ALPNProtocols: ['h2', 'http/1.1'] }));
  world.network.authorities = trusted === undefined ? undefined : [trusted];
  return world;
}

describe('https', () => {
  test('goes to the checked address, and names the host to server and certificate', async () => {
    const seen: unknown[] = [];
    const world = await open((request) => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      seen.push([request.headers.host, socket.servername, socket.alpnProtocol]);
      file(request);
    });
    expect(await world.bytes('https://files.example/')).toBe('file');
    expect(await world.bytes('https://files.example.:443/')).toBe('file');
    expect(await world.bytes(`https://${PUBLIC}/`)).toBe('file');
    expect(seen).toEqual([
      ['files.example', 'files.example', 'http/1.1'],
      ['files.example.', 'files.example', 'http/1.1'],
      [PUBLIC, false, 'http/1.1'],
    ]);
    expect(world.network.dialled).toEqual(Array(3).fill({ address: PUBLIC, port: 443 }));
  });

  test('is reached by a redirect from http, and never left for http', async () => {
    const world = await open(({ line, socket }) => {
      socket.end(line.includes('/down') ? answer(302, { location: 'http://files.example/' }) : answer(200, {}, 'file'));
    });
    expect(await world.refusal('https://files.example/down')).toBe('redirect from https to http');
    expect(world.network.dialled).toHaveLength(1);

    const plain = opened(
      await FetchWorld.open(({ socket }) => socket.end(answer(302, { location: 'https://secure.example/' }))),
    );
    plain.network.authorities = [certificate.cert];
    plain.network.name('secure.example', ['1.1.1.1']).route('1.1.1.1', world.server.port);
    expect(await plain.bytes()).toBe('file');
  });
});

describe('a certificate', () => {
  test.each<[string, () => Promise<FetchWorld>]>([
    ['that nobody trusts', () => open(file, certificate, testCertificate(['files.example']).cert)],
    ['that Node does not trust', async () => opened(await FetchWorld.open(file, {}, certificate))],
    ['of another host', () => open(file, testCertificate(['other.example', 'ample', '127.0.0.1']))],
    ['that has expired', () => open(file, testCertificate(['files.example'], 2021))],
  ])('%s is refused before anything is asked', async (_what, opening) => {
    const world = await opening();
    expect(await world.refusal('https://files.example/')).toBe('the connection failed');
    expect(world.server.requests).toEqual([]);
  });
});

describe('a server', () => {
  test('that speaks no TLS is refused', async () => {
    const world = opened(await FetchWorld.open(() => {}));
    const refusal = world.refusal('https://files.example/');
    await until(() => world.server.open === 1);
    world.server.say('HTTP/1.1 400 No\r\n\r\n');
    expect(await refusal).toBe('the connection failed');
  });

  test('that never answers the handshake has five seconds', async () => {
    const world = opened(await FetchWorld.open(() => {}));
    const refusal = world.refusal('https://files.example/');
    await until(() => world.server.connections === 1);
    world.clock.advance(5000);
    expect(await refusal).toBe('no connection in time');
  });
});
