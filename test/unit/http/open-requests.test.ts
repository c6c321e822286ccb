import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { OpenRequests, RequestContext } from '../../../src/http/request-context.js';
import { promotedBytes } from '../../support/common/heap.js';

const ROUTE = {
  method: 'POST',
  path: '/api/v1/send/sms',
  intake: true,
  authenticated: true,
  permission: undefined,
  deadline: true,
  waits: false,
  whileClosing: false,
  rawBody: undefined,
  streamed: undefined,
};
const SOCKET = new Socket();

function opened(): RequestContext {
  const req = new IncomingMessage(SOCKET);
  return new RequestContext(req, new ServerResponse(req), () => ({}), ROUTE, 0);
}

test('requests can be removed in any order', () => {
  const open = new OpenRequests();
  const requests = Array.from({ length: 7 }, opened);
  for (const each of requests) open.add(each);
  const left = new Set(requests);
  for (const index of [6, 0, 3, 1, 5, 2, 4]) {
    const ended = requests[index] ?? opened();
    open.remove(ended);
    left.delete(ended);
    expect(new Set(open.all())).toEqual(left);
    expect(open.all()).toHaveLength(left.size);
  }
});

test('a finished request is freed without a full garbage collection', async () => {
  const open = new OpenRequests();
  const queue: RequestContext[] = [];
  const turn = () => {
    const context = opened();
    open.add(context);
    queue.push(context);
    const ended = queue.length > 32 ? queue.shift() : undefined;
    if (ended) open.remove(ended);
  };
  // All finished requests together take 26 MB.
  expect(await promotedBytes(turn)).toBeLessThan(6_000_000);
});
