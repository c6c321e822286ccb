import { expect, test } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Clock } from '../../../src/common/clock.js';
import { MediaNetwork, SystemNetwork } from '../../../src/media/address-guard.js';
import { GuardedMediaFetcher } from '../../../src/media/guarded-media-fetcher.js';
import { MediaFetcher } from '../../../src/media/media-fetcher.js';
import { MediaSettings, resolveMediaSettings } from '../../../src/media/media-options.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { closeAfterEach } from '../../support/common/opened.js';
import { collect } from '../../support/media/collect.js';
import { FakeNetwork } from '../../support/media/fake-network.js';
import { answer, RawServer } from '../../support/media/raw-server.js';

const opened = closeAfterEach();
const settings = { provide: MediaSettings, useValue: resolveMediaSettings({ allow: 'loopback' }) };
const clock = { provide: Clock, useClass: FakeClock };
const fetcher = { provide: MediaFetcher, useClass: GuardedMediaFetcher };

test('works in a graph without a network, and then uses the machine’s own', async () => {
  const server = opened(await RawServer.open(({ socket }) => socket.end(answer(200, {}, 'file'))));
  const app = opened(await Test.createTestingModule({ providers: [settings, clock, fetcher] }).compile());
  for (const host of ['127.0.0.1', 'localhost', '2130706433']) {
    const url = `http://${host}:${server.port}/`;
    const { body } = await app.get(MediaFetcher).fetch({ url, maxBytes: 10, signal: new AbortController().signal });
    expect((await collect(body)).toString()).toBe('file');
  }
});

test('uses the network of the graph', async () => {
  const network = new FakeNetwork();
  const providers = [settings, clock, fetcher, { provide: MediaNetwork, useValue: network }];
  const app = opened(await Test.createTestingModule({ providers }).compile());
  const request = { url: 'http://files.example/', maxBytes: 10, signal: new AbortController().signal };
  await expect(app.get(MediaFetcher).fetch(request)).rejects.toMatchObject({ reason: 'the name has no address' });
  expect(network.lookups).toEqual(['files.example']);
});

test('the machine’s network resolves a name to its addresses', async () => {
  expect(await new SystemNetwork().resolve('localhost')).toContain('127.0.0.1');
});
