import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { until } from '../../support/common/until.js';
import { CrashLoad } from '../../support/crash/crash-load.js';

test('a load that gets a wrong answer stops with it, and leaves the event loop to other work', async () => {
  const server = createServer((_, response) => response.writeHead(500).end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const load = new CrashLoad(() => [{ url: `http://127.0.0.1:${port}` }], 'key', { clients: 4 });
  try {
    await until(() => load.surprises.length === 4);
    await load.finish();
    expect(load.surprises).toEqual(new Array(4).fill('sms: 500 {}'));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
