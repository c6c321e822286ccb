import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { FetchFixture, PUBLIC } from '../../support/media/fetch-fixture.js';
import { answer } from '../../support/media/raw-server.js';

let fixture: FetchFixture;

beforeAll(async () => {
  fixture = await FetchFixture.open(({ socket }) => socket.end(answer(200, {}, 'file')));
});
beforeEach(() => {
  fixture.network.dialled.length = 0;
  fixture.network.lookups.length = 0;
});
afterAll(async () => {
  expect(fixture.trap.connections).toBe(0);
  await fixture.close();
});

/** Asserts that the URL is refused and that no socket was opened. */
async function refusedUnseen(url: string): Promise<string> {
  const reason = await fixture.refusal(url);
  expect(fixture.network.dialled).toEqual([]);
  return reason;
}

describe('an address that is not public is not dialled, however it is written', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:80',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0X7F.0.0.1',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '127.000.000.001',
    '127。0。0。1',
    '１２７.0.0.1',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
    '127%2e0%2e0%2e1',
    '127.255.255.254',
    '0',
    '0.0.0.0',
    '0x0',
    '1',
    '255.255.255.255',
    '224.0.0.1',
    '240.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.1',
    '198.19.255.255',
    '192.88.99.1',
    '168.63.129.16',
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '0xa9.254.0xa9fe',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[0000::0001]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:7F00:0001]',
    '[::ffff:a9fe:a9fe]',
    '[::ffff:169.254.169.254]',
    '[::ffff:10.0.0.1]',
    '[::ffff:0:127.0.0.1]',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::a00:1]',
    '[64:ff9b:1:fffe::8.8.8.8]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
    '[2001:2::1]',
    '[2001:10::1]',
    '[fe80::1]',
    '[febf::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[fec0::1]',
    '[ff02::1]',
    '[ff0e::1]',
    '[2001:db8::1]',
    '[3fff::1]',
    '[100::1]',
    '[5f00::1]',
    '[4000::1]',
    '[2606:4700::5efe:10.0.0.1]',
    '[2606:4700::200:5efe:a00:1]',
  ])('http://%s/', async (host) => {
    expect(await refusedUnseen(`http://${host}/`)).toBe('an address or port that is not allowed');
    expect(fixture.network.lookups).toEqual([]);
  });

  test.each([
    'http:127.0.0.1',
    'http:/127.0.0.1/',
    'http:///127.0.0.1',
    'http:\\\\127.0.0.1\\a',
    'ht\ntp://127.0\t.0.1',
    ' \u{1}HTTP://127.1#@files.example ',
  ])('%p', async (url) => {
    expect(await refusedUnseen(url)).toBe('an address or port that is not allowed');
  });
});

describe('a name with an internal meaning is not looked up', () => {
  test.each([
    'localhost',
    'LocalHost',
    'localhost.',
    'a.localhost',
    'ｌｏｃａｌｈｏｓｔ',
    'loc%61lhost',
    'printer.local',
    'printer.LOCAL.',
    'metadata.google.internal',
    'metadata.google.internal.',
    'db.prod.internal',
    'router.home.arpa',
    '1.0.0.127.in-addr.arpa',
    'intranet',
    'metadata',
    'kubernetes.',
    'x',
    '_',
  ])('%s', async (host) => {
    expect(await refusedUnseen(`http://${host}/`)).toBe('a private name');
    expect(fixture.network.lookups).toEqual([]);
  });
});

describe('a name is judged by all its addresses', () => {
  test.each<[string, string[], string]>([
    ['loopback', ['127.0.0.1'], 'not allowed'],
    ['metadata', ['169.254.169.254'], 'not allowed'],
    ['private', ['10.1.2.3'], 'not allowed'],
    ['IPv4-mapped', ['::ffff:192.168.0.1'], 'not allowed'],
    ['NAT64', ['64:ff9b::a00:1'], 'not allowed'],
    ['link-local with a zone', ['fe80::1%eth0'], 'not allowed'],
    ['loopback with a zone', ['::1%lo'], 'not allowed'],
    ['public, then private', [PUBLIC, '10.0.0.1'], 'not allowed'],
    ['private, then public', ['10.0.0.1', PUBLIC], 'not allowed'],
    ['public many times, then loopback', [...Array(40).fill(PUBLIC), '::1'], 'not allowed'],
    ['public IPv4 and unique local IPv6', [PUBLIC, 'fd00::1'], 'not allowed'],
    ['nothing', [], 'no address'],
    ['no address', ['files.example'], 'no address'],
    ['a short form of an address', [PUBLIC, '127.1'], 'no address'],
    ['an address in octal', ['0177.0.0.1'], 'no address'],
    ['an address with white space', [' 8.8.8.8'], 'no address'],
  ])('%s', async (_what, answers, reason) => {
    fixture.network.name('mixed.example', answers);
    expect(await refusedUnseen('http://mixed.example/')).toContain(reason);
    expect(await refusedUnseen('http://MIXED.example./')).toContain(reason);
  });

  test('and is refused if it has none', async () => {
    expect(await refusedUnseen('http://nowhere.example/')).toBe('the name has no address');
  });
});

describe('what is not a plain URL of a file is refused before any connection', () => {
  test.each<[string, string]>([
    ['http://user@files.example/', 'credentials in the URL'],
    ['http://user:pass@files.example/', 'credentials in the URL'],
    ['http://:pass@files.example/', 'credentials in the URL'],
    ['http://files.example@127.0.0.1/', 'credentials in the URL'],
    ['http://127.0.0.1\\@files.example/', 'an address or port that is not allowed'],
    ['ftp://files.example/a', 'neither http nor https'],
    ['file:///etc/passwd', 'neither http nor https'],
    ['data:image/png;base64,AAAA', 'neither http nor https'],
    ['javascript:alert(1)', 'neither http nor https'],
    ['gopher://files.example:70/_x', 'neither http nor https'],
    ['blob:http://files.example/a', 'neither http nor https'],
    ['ws://files.example/', 'neither http nor https'],
    ['unix:/var/run/docker.sock', 'neither http nor https'],
    ['', 'not a URL'],
    ['/etc/passwd', 'not a URL'],
    ['//files.example/a', 'not a URL'],
    ['files.example/a', 'not a URL'],
    ['http://', 'not a URL'],
    ['http://[fe80::1%25eth0]/', 'not a URL'],
    ['http://[::1', 'not a URL'],
    ['http://256.0.0.1/', 'not a URL'],
    ['http://127.0.0.1.1/', 'not a URL'],
    ['http://files.example:99999/', 'not a URL'],
    ['http://files example/', 'not a URL'],
    [`http://files.example/${'a'.repeat(8000)}`, 'not a URL'],
    [`http://files.example/${'é'.repeat(3000)}`, 'not a URL'],
    ['http://files.example:22/', 'an address or port that is not allowed'],
    ['http://files.example:8080/', 'an address or port that is not allowed'],
    ['https://files.example:6379/', 'an address or port that is not allowed'],
    ['http://files.example:0/', 'an address or port that is not allowed'],
  ])('%.60s', async (url, reason) => {
    expect(await refusedUnseen(url)).toBe(reason);
  });
});

describe('a public file is fetched', () => {
  test.each<[string, string[], number]>([
    ['http://files.example/', ['files.example'], 80],
    ['http://FILES.example.:80/', ['files.example'], 80],
    ['http://files.example:443/', ['files.example'], 443],
    [`http://${PUBLIC}/`, [], 80],
    ['http://1572395042/', [], 80],
    [`http://files.example/${'a'.repeat(7000)}`, ['files.example'], 80],
  ])('%.60s', async (url, lookups, port) => {
    expect(await fixture.bytes(url)).toBe('file');
    expect(fixture.network.lookups).toEqual(lookups);
    expect(fixture.network.dialled).toEqual([{ address: PUBLIC, port }]);
  });

  test('over IPv6, and if IPv4 can be reached only through NAT64', async () => {
    fixture.network.name('six.example', ['2606:2800:220:1:248:1893:25c8:1946']);
    expect(await fixture.bytes('http://six.example/')).toBe('file');
    expect(await fixture.bytes('http://[2606:2800:220:1:248:1893:25c8:1946]/')).toBe('file');
    fixture.network.route('64:ff9b::808:808', fixture.server.port).name('nat64.example', ['64:ff9b::808:808']);
    expect(await fixture.bytes('http://nat64.example/')).toBe('file');
  });
});
