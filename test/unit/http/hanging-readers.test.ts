import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { StreamableFile } from '@nestjs/common';
import { EventStreams } from '../../../src/http/event-streams.js';
import { CsvStreams } from '../../../src/management/csv.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';
import { eventually } from '../../support/eventually.js';

async function* lines() {
  yield 'The end of a long text.';
}

/** As where the sockets of both sides are full because the client does not read: what is written stays here. */
function fill({ socket }: ServerResponse): void {
  if (socket === null) throw new Error('It has no connection.');
  Reflect.set(socket, '_write', () => undefined);
  Reflect.set(socket, '_writev', undefined);
}

const events = new EventStreams(new FakeClock());
const files = new CsvStreams();

test.each<[string, (response: ServerResponse) => StreamableFile, () => void | Promise<void>]>([
  ['an event stream', (response) => events.text(response, lines), () => events.beforeApplicationShutdown()],
  ['a file of CSV', (response) => files.stream(response, 'x', lines()), () => files.beforeApplicationShutdown()],
])('%s that has ended does not hold up the application when its client does not read on', async (_, answer, end) => {
  const server = createServer((_request, response) => {
    fill(response);
    const source = answer(response).getStream();
    pipeline(source, response, () => undefined);
    opened({ source, response });
  });
  let opened: (stream: { source: NodeJS.ReadableStream & { closed?: boolean }; response: ServerResponse }) => void;
  const opening = new Promise<Parameters<typeof opened>[0]>((resolve) => {
    opened = resolve;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const { source, response } = await opening;
  await eventually(() => source.closed);
  expect([response.writableEnded, response.writableFinished]).toEqual([true, false]);
  const closed = once(server.close(), 'close');
  await end();
  await eventually(() => response.destroyed);
  await closed;
  client.destroy();
});
