import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MINUTE_MS } from '../time.js';

/** An endpoint in a process of its own that accepts every call. Below `/dead` it never answers. */
let [events, first, last] = [0, 0, 0];
let waits: number[] = [];

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url?.startsWith('/dead')) return;
    const body = Buffer.concat(chunks).toString();
    response.end();
    last = Date.now();
    first ||= last;
    events += body.split('"sequence":').length - 1;
    const at = /"timestamp":"([^"]+)"/.exec(body)?.[1];
    if (at !== undefined) waits.push(last - Date.parse(at));
  });
});
server.keepAliveTimeout = MINUTE_MS;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', (asked) => {
  if (asked === 'stop') process.exit();
  process.send?.({ events, first, last, waits: asked === 'waits' ? waits : [] });
  if (asked !== 'reset') return;
  [events, first, last] = [0, 0, 0];
  waits = [];
});
process.on('disconnect', () => process.exit());
