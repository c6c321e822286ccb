import type { TLSSocket } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { closeAfterEach } from '../../support/common/opened.js';
import { until } from '../../support/common/until.js';
import { FetchFixture, PUBLIC } from '../../support/media/fetch-fixture.js';
import { answer, type RawHandler } from '../../support/media/raw-server.js';
import { testCertificate } from '../../support/media/test-certificate.js';

const opened = closeAfterEach();
const file: RawHandler = ({ socket }) => socket.end(answer(200, {}, 'file'));
const certificate = testCertificate(['files.example', 'secure.example', PUBLIC]);

/** A fixture whose server speaks TLS with a certificate, and whose fetcher trusts that one or another. */
async function open(handle = file, own = certificate, trusted: string | undefined = own.cert): Promise<FetchFixture> {
  const fixture = opened(await FetchFixture.open(handle, {}, { ...own, ALPNProtocols: ['h2', 'http/1.1'] }));
  fixture.network.authorities = trusted === undefined ? undefined : [trusted];
  return fixture;
}

describe('https', () => {
  test('connects to the checked address, and uses the host’s name for SNI and the certificate', async () => {
    const seen: unknown[] = [];
    const fixture = await open((request) => {
      const socket = request.socket as TLSSocket & { servername?: string | false };
      seen.push([request.headers.host, socket.servername, socket.alpnProtocol]);
      file(request);
    });
    expect(await fixture.bytes('https://files.example/')).toBe('file');
    expect(await fixture.bytes('https://files.example.:443/')).toBe('file');
    expect(await fixture.bytes(`https://${PUBLIC}/`)).toBe('file');
    expect(seen).toEqual([
      ['files.example', 'files.example', 'http/1.1'],
      ['files.example.', 'files.example', 'http/1.1'],
      [PUBLIC, false, 'http/1.1'],
    ]);
    expect(fixture.network.dialled).toEqual(Array(3).fill({ address: PUBLIC, port: 443 }));
  });

  test('can be reached by a redirect from http, and is never left for http', async () => {
    const fixture = await open(({ line, socket }) => {
      socket.end(line.includes('/down') ? answer(302, { location: 'http://files.example/' }) : answer(200, {}, 'file'));
    });
    expect(await fixture.refusal('https://files.example/down')).toBe('redirect from https to http');
    expect(fixture.network.dialled).toHaveLength(1);

    const plain = opened(
      await FetchFixture.open(({ socket }) => socket.end(answer(302, { location: 'https://secure.example/' }))),
    );
    plain.network.authorities = [certificate.cert];
    plain.network.name('secure.example', ['1.1.1.1']).route('1.1.1.1', fixture.server.port);
    expect(await plain.bytes()).toBe('file');
  });
});

describe('a certificate', () => {
  test.each<[string, () => Promise<FetchFixture>]>([
    ['that nobody trusts', () => open(file, certificate, testCertificate(['files.example']).cert)],
    ['that Node does not trust', async () => opened(await FetchFixture.open(file, {}, certificate))],
    ['of another host', () => open(file, testCertificate(['other.example', 'ample', '127.0.0.1']))],
    ['that has expired', () => open(file, testCertificate(['files.example'], 2021))],
  ])('%s is refused before anything is asked', async (_what, opening) => {
    const fixture = await opening();
    expect(await fixture.refusal('https://files.example/')).toBe('the connection failed');
    expect(fixture.server.requests).toEqual([]);
  });
});

describe('a server', () => {
  test('that speaks no TLS is refused', async () => {
    const fixture = opened(await FetchFixture.open(() => {}));
    const refusal = fixture.refusal('https://files.example/');
    await until(() => fixture.server.open === 1);
    fixture.server.say('HTTP/1.1 400 No\r\n\r\n');
    expect(await refusal).toBe('the connection failed');
  });

  test('that never answers the handshake is given five seconds', async () => {
    const fixture = opened(await FetchFixture.open(() => {}));
    const refusal = fixture.refusal('https://files.example/');
    await until(() => fixture.server.connections === 1);
    fixture.clock.advance(5000);
    expect(await refusal).toBe('no connection in time');
  });
});
